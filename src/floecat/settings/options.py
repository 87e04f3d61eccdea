"""How a settings field declares its key: the vocabulary `model` is written in."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_type_hints

_METADATA: Final = "floecat.option"

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is known of one key besides its type and default."""

    key: str
    help: str
    minimum: int | None = None
    maximum: int | None = None
    secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One key of the model: where it is in the tree, its type, its default."""

    option: Option
    path: tuple[str, ...]
    type: Any
    default: object

    @property
    def key(self) -> str:
        return self.option.key

    @property
    def environment_name(self) -> str:
        """`FLOECAT_` and the key in capitals, with `.` and `-` as `_`."""
        return "FLOECAT_" + self.key.upper().replace(".", "_").replace("-", "_")


# A field's default has the field's type, which no signature can say of a helper: hence Any.
def option(key: str, default: Any, text: str, **more: Any) -> Any:
    """A dataclass field that can be set by `key`; `more` are further fields of `Option`.

    Secret values stay out of every repr.
    """
    declared = Option(key=key, help=text, **more)
    metadata = {_METADATA: declared}
    return dataclasses.field(default=default, metadata=metadata, repr=not declared.secret)


def group(settings: type) -> Any:
    """A dataclass field that holds a further group of settings."""
    return dataclasses.field(default_factory=settings)


def declared_options(model: type, path: tuple[str, ...] = ()) -> Iterator[Declared]:
    """Every key of a model, depth first, in the order of declaration."""
    hints = get_type_hints(model)
    for field in dataclasses.fields(model):
        if _METADATA in field.metadata:
            yield Declared(
                option=field.metadata[_METADATA],
                path=(*path, field.name),
                type=hints[field.name],
                default=field.default,
            )
        else:
            yield from declared_options(hints[field.name], (*path, field.name))


def build(model: type[Model], values: Mapping[str, object]) -> Model:
    """An instance of the model with the values given by key, and defaults for the rest."""
    hints = get_type_hints(model)
    arguments: dict[str, object] = {}
    for field in dataclasses.fields(model):  # type: ignore[arg-type]  # every model is a dataclass
        if _METADATA not in field.metadata:
            arguments[field.name] = build(hints[field.name], values)
        elif field.metadata[_METADATA].key in values:
            arguments[field.name] = values[field.metadata[_METADATA].key]
    return model(**arguments)
