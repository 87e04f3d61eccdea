"""Stubs are made when they are first asked for, one for every service that is declared."""

import floecat


def test_every_declared_stub_can_be_had_and_stays_the_same() -> None:
    with floecat.connect("localhost:1") as clients:
        for name in floecat.GrpcClients.__annotations__:
            assert getattr(clients, name) is getattr(clients, name)
            stub = floecat.GrpcClients.__annotations__[name]
            assert type(getattr(clients, name)).__name__ == stub.strip('"')


def test_what_is_no_service_is_no_attribute() -> None:
    with floecat.connect("localhost:1") as clients:
        assert not hasattr(clients, "nonsense")
