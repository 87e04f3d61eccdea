"""The auth providers that come with Floecat, and finding those of other packages."""
