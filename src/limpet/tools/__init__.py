"""The four tools by which a model asks the memory, defined once for every door (MCP, the plugin). Reads only."""

from limpet.tools.definitions import Tool, tools
from limpet.tools.desk import Desk
from limpet.tools.running import Told, run
from limpet.tools.scope import Scope

__all__ = ["Desk", "Scope", "Told", "Tool", "run", "tools"]
