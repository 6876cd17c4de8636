"""The templates: everything put into one is cleaned and escaped. Nothing that was recorded is ever markup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from limpet import text

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


def _cleaned(value: Any) -> Any:
    """Return a text as it may be shown; markup, which only templates make, passes."""
    return text.clean(value) if type(value) is str else value


ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_cleaned,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def prepare() -> None:
    """Compile every template: the first reader of each page would wait for that."""
    for name in ENVIRONMENT.list_templates():
        ENVIRONMENT.get_template(name)


def page(template: str, /, **values: Any) -> str:
    """Return the page that a template makes of these values."""
    return ENVIRONMENT.get_template(template).render(values)


def pieces(template: str, /, **values: Any) -> Iterator[str]:
    """Yield the same piece by piece, while it is being made."""
    yield from ENVIRONMENT.get_template(template).generate(values)
