"""The MPIs that are installed, as the tests of launches find them."""

from tests.launch.conftest import installed

__all__ = ["installed"]
