"""Setting the plugin up in OpenClaw's configuration and taking it out again, on real files."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet import json5
from limpet.errors import BadInput, NotFound, Unavailable
from limpet.runtimes.openclaw import editing, setup

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = ("/opt/limpet/bin/limpet", "run", "--until-eof")

JSON5 = """\
// my gateway, do not touch
{
  gateway: { mode: 'local', port: 19789 }, // loopback only
  "agents": {
    defaults: { workspace: "~/w", }, /* trailing commas everywhere */
  },
}
"""

STYLES = {
    "json": '{\n  "gateway": {\n    "port": 19789\n  }\n}\n',
    "json without a last newline": '{\n  "gateway": {\n    "port": 19789\n  }\n}',
    "tabs": '{\n\t"gateway": {\n\t\t"port": 19789\n\t}\n}\n',
    "windows": '{\r\n  "gateway": {\r\n    "port": 19789\r\n  }\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "gateway": {\n    "port": 19789\n  }\n}\n',
    "one line": '{"gateway":{"port":19789}}',
    "json5": JSON5,
    "empty object": "{}",
    "plugins already": '{\n  "plugins": {\n    "load": { "paths": ["/other"] },\n    "entries": {}\n  }\n}\n',
    "plugins in one line": "{ plugins: { load: { paths: [] }, entries: { other: { enabled: true } } } }\n",
    "a comment last": "{\n  a: 1 // the end\n  // really\n}\n",
    "a bracket beside a member": "{\n  a: 1,\n  b: [\n    2 ] }\n",
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Make a state folder of OpenClaw's without a configuration."""
    (tmp_path / ".openclaw" / "agents").mkdir(parents=True)
    return tmp_path / ".openclaw"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Make a folder that holds the plugin."""
    return make_plugin(tmp_path / "lib" / "integrations" / "openclaw")


def make_plugin(folder: Path) -> Path:
    """Make a folder that OpenClaw would take for our plugin."""
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text('{"id": "limpet"}')
    return folder


def config(state: Path) -> Path:
    """Return OpenClaw's configuration file."""
    return state / "openclaw.json"


def set_up(state: Path, plugin: Path, command: tuple[str, ...] | None = COMMAND) -> setup.Plan:
    """Plan and apply the set-up; return the plan."""
    plan = setup.plan_setup(state, plugin, command)
    setup.apply(plan)
    return plan


def remove(state: Path) -> setup.Plan:
    """Plan and apply the removal; return the plan."""
    plan = setup.plan_removal(state)
    setup.apply(plan)
    return plan


def files(state: Path) -> dict[str, bytes]:
    """Return every file in the state folder with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(state.iterdir()) if path.is_file()}


def value(path: Path) -> dict:
    """Return what a file means."""
    return json5.parse(path.read_bytes().decode()).value


def test_a_missing_configuration_is_made(state: Path, plugin: Path) -> None:
    """Without a configuration one is made that holds the plugin and nothing else; removal deletes it."""
    set_up(state, plugin)
    assert {
        "plugins": {
            "load": {"paths": [str(plugin)]},
            "entries": {
                "limpet": {
                    "enabled": True,
                    "hooks": {"allowConversationAccess": True},
                    "config": {"command": list(COMMAND)},
                }
            },
        }
    } == json.loads(config(state).read_bytes())
    remove(state)
    assert files(state) == {}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES.keys())
def test_removal_restores_every_byte(state: Path, plugin: Path, text: str) -> None:
    """Whatever the style of the file, setting up and removing leaves the bytes as they were."""
    config(state).write_bytes(text.encode())
    set_up(state, plugin)
    assert text.encode() != config(state).read_bytes()
    remove(state)
    assert {"openclaw.json": text.encode()} == files(state)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ({}, "It offers the agents tools"),
        ({"profile": "coding"}, "It offers the agents tools"),
        ({"allow": ["exec", "limpet"]}, "It offers the agents tools"),
        ({"allow": ["group:plugins"]}, "It offers the agents tools"),
        ({"allow": ["exec", "read"]}, "add limpet there"),
    ],
)
def test_setup_says_whether_agents_get_the_tools(state: Path, plugin: Path, tools: object, words: str) -> None:
    """A list of allowed tools is the user's: it is left alone, and what it leaves out is said."""
    config(state).write_text(json.dumps({"tools": tools}), "utf-8")
    assert words in "\n".join(setup.plan_setup(state, plugin, None).sentences)
    set_up(state, plugin)
    assert tools == value(config(state))["tools"]


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES.keys())
def test_setup_adds_only_our_keys(state: Path, plugin: Path, text: str) -> None:
    """What the file said before it still says, in the same characters and order."""
    config(state).write_bytes(text.encode())
    before = value(config(state))
    set_up(state, plugin)
    after = value(config(state))
    assert str(plugin) == after["plugins"]["load"]["paths"].pop()
    assert after["plugins"]["entries"].pop("limpet")["enabled"] is True
    assert without_empty(before) == without_empty(after)
    left = iter(config(state).read_bytes().decode())
    assert all(character in left for character in text if not character.isspace())


def without_empty(tree: object) -> object:
    """Return a tree without the objects and arrays that hold nothing."""
    if isinstance(tree, dict):
        return {k: w for k, v in tree.items() if (w := without_empty(v)) not in ({}, [])}
    return tree


def test_comments_stay_beside_what_they_are_about(state: Path, plugin: Path) -> None:
    """A JSON5 file keeps its lines; ours follow as the last member."""
    config(state).write_text(JSON5)
    set_up(state, plugin, None)
    kept = JSON5.removesuffix("}\n")
    assert kept == config(state).read_text()[: len(kept)]
    assert (
        '  "plugins": {\n    "load": {\n      "paths": [\n        '
        f'"{plugin}"\n      ]\n    }},\n    "entries": {{\n      "limpet": {{\n        "enabled": true,\n'
        '        "hooks": {\n          "allowConversationAccess": true\n        }\n      }\n    }\n  },\n}\n'
        == config(state).read_text()[len(kept) :]
    )


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES.keys())
def test_a_second_setup_changes_nothing(state: Path, plugin: Path, text: str) -> None:
    """Setting up again finds nothing to do and says so."""
    config(state).write_bytes(text.encode())
    set_up(state, plugin)
    before = files(state)
    plan = set_up(state, plugin)
    assert ((), before) == (plan.changes, files(state))
    assert "already" in plan.sentences[0]


def test_a_dry_run_changes_nothing_and_says_what_it_would(state: Path, plugin: Path) -> None:
    """A plan is sentences that name the files, the plugin and the command."""
    config(state).write_text("{}")
    plan = setup.plan_setup(state, plugin, COMMAND)
    assert files(state) == {"openclaw.json": b"{}"}
    said = "\n".join(plan.sentences)
    for named in (str(config(state)), str(plugin), " ".join(COMMAND), "openclaw.json.limpet-backup"):
        assert named in said


def test_the_backup_is_private_and_holds_the_former_bytes(state: Path, plugin: Path) -> None:
    """The configuration may hold keys, so its copy is for the owner alone."""
    config(state).write_text(JSON5)
    set_up(state, plugin)
    backup = state / "openclaw.json.limpet-backup"
    assert backup.read_text() == JSON5
    assert backup.stat().st_mode & 0o777 == 0o600


def test_after_an_edit_removal_takes_out_only_our_keys(state: Path, plugin: Path) -> None:
    """What somebody wrote since stays, with its comments; nothing of ours is left."""
    config(state).write_text(JSON5)
    set_up(state, plugin)
    edited = config(state).read_text().replace("19789", "20000 /* moved */")
    config(state).write_text(edited)
    plan = remove(state)
    assert {"openclaw.json": JSON5.replace("19789", "20000 /* moved */").encode()} == files(state)
    assert "all else in it stays" in plan.sentences[0]


def test_removal_from_a_file_that_openclaw_wrote_anew(state: Path, plugin: Path) -> None:
    """OpenClaw writes the file in its own style and adds keys: they stay, ours go."""
    config(state).write_text(JSON5)
    set_up(state, plugin)
    rewritten = value(config(state)) | {"meta": {"lastTouchedVersion": "2026.9.6"}}
    rewritten["plugins"]["entries"]["other"] = {"enabled": False}
    config(state).write_text(json.dumps(rewritten, indent=2))
    remove(state)
    expected = value_of(JSON5) | {"meta": rewritten["meta"], "plugins": {"entries": {"other": {"enabled": False}}}}
    assert expected == json.loads(config(state).read_text())


def value_of(text: str) -> dict:
    """Return what a text means."""
    return json5.parse(text).value


def test_another_command_replaces_the_first(state: Path, plugin: Path) -> None:
    """Setting up with another command, or with none, changes just that, and removal still restores every byte."""
    config(state).write_text(JSON5)
    set_up(state, plugin)
    set_up(state, plugin, ("/usr/bin/limpet", "run"))
    assert value(config(state))["plugins"]["entries"]["limpet"]["config"]["command"] == ["/usr/bin/limpet", "run"]
    set_up(state, plugin, None)
    assert "config" not in value(config(state))["plugins"]["entries"]["limpet"]
    remove(state)
    assert {"openclaw.json": JSON5.encode()} == files(state)


def test_the_folder_of_an_older_environment_is_replaced(state: Path, plugin: Path, tmp_path: Path) -> None:
    """After an upgrade into another place only the new folder is loaded."""
    older = make_plugin(tmp_path / "older" / "integrations" / "openclaw")
    set_up(state, older)
    (older / "openclaw.plugin.json").unlink()
    older.rmdir()
    set_up(state, plugin)
    assert [str(plugin)] == value(config(state))["plugins"]["load"]["paths"]


def test_an_exclusive_list_gets_our_name(state: Path, plugin: Path) -> None:
    """Where plugins.allow names some, only these load: ours is added, and removed again."""
    config(state).write_text('{ plugins: { allow: ["voice-call"] } }')
    set_up(state, plugin)
    assert value(config(state))["plugins"]["allow"] == ["voice-call", "limpet"]
    config(state).write_text(config(state).read_text() + "// edited")
    remove(state)
    assert value(config(state)) == {"plugins": {"allow": ["voice-call"]}}


def test_an_empty_list_allows_everything_and_stays_empty(state: Path, plugin: Path) -> None:
    """An empty plugins.allow is no list."""
    config(state).write_text("{ plugins: { allow: [] } }")
    set_up(state, plugin)
    assert value(config(state))["plugins"]["allow"] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ plugins: { enabled: false } }", "plugins.enabled is false"),
        ('{ plugins: { deny: ["limpet"] } }', "plugins.deny names limpet"),
        ("{ plugins: [] }", "plugins"),
        ("{ plugins: { load: { paths: 'x' } } }", "plugins.load.paths"),
        ("[1, 2]", "an object is needed"),
        ("{ gateway: { port: 1 ", "line 1, column 22"),
        ("{\n  a: 1\n  b: 2\n}", "a comma is missing at line 3, column 3"),
        ("", "a value is missing at line 1, column 1"),
        ("\x00\x01\x02", "line 1"),
    ],
)
def test_where_the_plugin_would_not_load_nothing_is_changed(state: Path, plugin: Path, text: str, reason: str) -> None:
    """A configuration that forbids the plugin, or cannot be read, is named and left alone."""
    config(state).write_text(text)
    with pytest.raises(BadInput, match=reason):
        setup.plan_setup(state, plugin, COMMAND)
    assert {"openclaw.json": text.encode()} == files(state)


def test_bytes_that_are_no_text_are_left_alone(state: Path, plugin: Path) -> None:
    """A binary file is refused."""
    config(state).write_bytes(b"{\xff\xfe}")
    with pytest.raises(BadInput, match="cannot be read"):
        setup.plan_setup(state, plugin, COMMAND)


def test_a_missing_state_folder_is_said(tmp_path: Path, plugin: Path) -> None:
    """Without a state folder there is no OpenClaw to set up."""
    with pytest.raises(NotFound, match="There is no OpenClaw state folder"):
        setup.plan_setup(tmp_path / "none", plugin, COMMAND)


def test_a_folder_of_something_else_is_refused(tmp_path: Path, plugin: Path) -> None:
    """A folder without any sign of OpenClaw is left alone."""
    (tmp_path / "other").mkdir()
    with pytest.raises(BadInput, match="is not a state folder of OpenClaw"):
        setup.plan_setup(tmp_path / "other", plugin, COMMAND)
    assert list((tmp_path / "other").iterdir()) == []


def test_a_plugin_that_others_can_change_is_refused(state: Path, plugin: Path) -> None:
    """OpenClaw blocks such a folder silently: better said at once."""
    plugin.chmod(0o777)
    with pytest.raises(BadInput, match="others can write there"):
        setup.plan_setup(state, plugin, COMMAND)


def test_a_section_in_a_file_of_its_own_is_changed_there(state: Path, plugin: Path) -> None:
    """`plugins: {$include}`: the main file stays as it is, the included one gets our keys and loses them again."""
    main = "{ plugins: { $include: './plugins.json5' } }"
    included = "{\n  // mine\n  entries: {},\n}\n"
    config(state).write_text(main)
    (state / "plugins.json5").write_text(included)
    set_up(state, plugin)
    assert main == config(state).read_text()
    assert [str(plugin)] == value(state / "plugins.json5")["load"]["paths"]
    remove(state)
    assert {"openclaw.json": main.encode(), "plugins.json5": included.encode()} == files(state)


@pytest.mark.parametrize(
    "main",
    [
        "{ plugins: { $include: ['./a.json5', './b.json5'] } }",
        "{ plugins: { $include: './a.json5', deny: [] } }",
        "{ plugins: { $include: '../a.json5' } }",
        "{ $include: ['./whole.json5'], gateway: {} }",
    ],
)
def test_beside_other_includes_our_keys_are_added(state: Path, plugin: Path, main: str) -> None:
    """Where no single file owns the section, keys beside the include are merged over it; allow lists count too."""
    for folder in (state, state.parent):
        (folder / "a.json5").write_text("{ allow: ['x'] }")
    (state / "b.json5").write_text("{}")
    (state / "whole.json5").write_text("{ plugins: { allow: ['x'] } }")
    config(state).write_text(main)
    before = files(state)
    set_up(state, plugin)
    written = value(config(state))["plugins"]
    assert ([str(plugin)], ["limpet"]) == (written["load"]["paths"], written["allow"])
    assert "limpet" in written["entries"]
    remove(state)
    assert before == files(state)


def test_a_denial_in_an_included_file_counts(state: Path, plugin: Path) -> None:
    """What OpenClaw would merge is what decides."""
    (state / "a.json5").write_text("{ deny: ['limpet'] }")
    config(state).write_text("{ plugins: { $include: ['./a.json5'] } }")
    with pytest.raises(BadInput, match=r"plugins\.deny names limpet"):
        setup.plan_setup(state, plugin, COMMAND)


@pytest.mark.parametrize(
    "main", ["{ plugins: { $include: './none.json5' } }", "{ plugins: { $include: './openclaw.json' } }"]
)
def test_an_include_that_leads_nowhere_is_refused(state: Path, plugin: Path, main: str) -> None:
    """A missing file and a circle are named; nothing is made in their place."""
    config(state).write_text(main)
    with pytest.raises(BadInput, match="included"):
        setup.plan_setup(state, plugin, COMMAND)
    assert {"openclaw.json": main.encode()} == files(state)


def test_mode_and_link_are_kept(state: Path, plugin: Path, tmp_path: Path) -> None:
    """A linked configuration is changed where it lies, and stays as readable as it was."""
    real = tmp_path / "dotfiles.json"
    real.write_text(JSON5)
    real.chmod(0o640)
    config(state).symlink_to(real)
    set_up(state, plugin)
    assert config(state).is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "limpet" in real.read_text()
    remove(state)
    assert real.read_text() == JSON5
    assert sorted(path.name for path in state.iterdir()) == ["agents", "openclaw.json"]


def test_a_file_that_changes_between_plan_and_apply_is_left_alone(state: Path, plugin: Path) -> None:
    """The gateway may write at any time: its write wins, and the user is told to try again."""
    config(state).write_text("{}")
    plan = setup.plan_setup(state, plugin, COMMAND)
    config(state).write_text('{"gateway": {}}')
    with pytest.raises(Unavailable, match="has changed meanwhile"):
        setup.apply(plan)
    assert config(state).read_text() == '{"gateway": {}}'


def test_a_failed_write_leaves_the_old_file_and_nothing_else(state: Path, plugin: Path) -> None:
    """Where the folder is gone when it comes to writing, a sentence says so."""
    config(state).write_text("{}")
    plan = setup.plan_setup(state, plugin, COMMAND)
    state.rename(state.with_name("moved"))
    with pytest.raises(Unavailable):
        setup.apply(plan)
    assert files(state.with_name("moved")) == {"openclaw.json": b"{}"}


def test_removing_what_is_not_there_says_so(state: Path) -> None:
    """Removal is idempotent too."""
    config(state).write_text(JSON5)
    plan = remove(state)
    assert "Limpet is not in" in plan.sentences[0]
    assert {"openclaw.json": JSON5.encode()} == files(state)


def test_keys_set_by_hand_are_removed_too(state: Path, plugin: Path) -> None:
    """An entry that our setup did not write is ours all the same."""
    config(state).write_text(
        json.dumps({"plugins": {"load": {"paths": ["/x", str(plugin)]}, "entries": {"limpet": {}}}})
    )
    remove(state)
    assert value(config(state)) == {"plugins": {"load": {"paths": ["/x"]}}}


def test_is_installed_tells_whether_openclaw_would_load_it(state: Path, plugin: Path) -> None:
    """Set up: yes; switched off, removed or unreadable: no."""
    assert not setup.is_installed(state)
    set_up(state, plugin)
    assert setup.is_installed(state)
    config(state).write_text(config(state).read_text().replace('"enabled": true', '"enabled": false'))
    assert not setup.is_installed(state)
    set_up(state, plugin)
    remove(state)
    assert not setup.is_installed(state)
    config(state).write_text("{")
    assert not setup.is_installed(state)


def test_the_plugin_folder_is_found() -> None:
    """A checkout or an installed package knows where its plugin lies."""
    folder = setup.plugin_folder()
    assert json.loads((folder / "openclaw.plugin.json").read_text())["id"] == "limpet"
    assert folder.is_absolute()


SAID = {
    "// c\n{a: 'b'}": {"a": "b"},
    '{"a": 1, /* c */ "b": [1, 2,],}': {"a": 1, "b": [1, 2]},
    "{$x_1: +.5, 'y': 0xFF, z: -5., w: 1e3}": {"$x_1": 0.5, "y": 255, "z": -5.0, "w": 1000.0},
    "[Infinity, -Infinity, true, false, null]": [float("inf"), float("-inf"), True, False, None],
    r'{"\u0061\x62": "tab\tquote\"line\
end"}': {"ab": 'tab\tquote"lineend'},
    r'"\ud83d\ude00"': "\U0001f600",
    "{a: 1, a: 2}": {"a": 2},
    "\ufeff{\u00e9: 1}": {"\u00e9": 1},
    r"{\u0061: 1}": {"a": 1},
}


@pytest.mark.parametrize("text", SAID.keys())
def test_json5_is_read_as_its_specification_says(text: str) -> None:
    """Comments, quotes, bare keys, numbers, escapes, trailing commas, repeated keys."""
    assert SAID[text] == json5.parse(text).value


@pytest.mark.parametrize(
    "text",
    ["{a}", "{a:}", "{,}", "[,]", "[1 2]", "{a: 1} 2", "'", '"\n"', "/*", "1.2.3", "01x", "tru", "[" * 5000, "{1: 2}"],
)
def test_what_is_not_json5_is_refused(text: str) -> None:
    """Every error is a sentence with a place."""
    with pytest.raises(BadInput, match=r"at line \d+, column \d+"):
        json5.parse(text)


SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6), TREES, max_size=4)


@settings(deadline=None)
@given(tree=TREES, indent=st.sampled_from([None, 0, 2, "\t"]), ascii_only=st.booleans())
def test_every_json_text_is_json5(tree: object, indent: int | str | None, ascii_only: bool) -> None:
    """What Python writes as JSON is read back the same."""
    assert tree == json5.parse(json.dumps(tree, indent=indent, ensure_ascii=ascii_only)).value


@settings(deadline=None)
@given(text=st.text(alphabet="{}[]:,'\"\\/*\n abu1.-+eEx0", max_size=40))
def test_no_text_makes_the_reader_stumble(text: str) -> None:
    """Any characters are either a value or a BadInput."""
    node = None
    with contextlib.suppress(BadInput):
        node = json5.parse(text)
    assert node is None or 0 <= node.start < node.end <= len(text)


@settings(deadline=None)
@given(tree=OBJECTS, indent=st.sampled_from([None, 2, "\t"]), item=TREES)
def test_what_was_inserted_can_be_removed_without_a_trace(tree: dict, indent: int | str | None, item: object) -> None:
    """Inserting adds just that member; removing it gives the same value, and the same text unless it was empty."""
    text = json.dumps(tree, indent=indent)
    name = "limpet"
    added = editing.inserted(text, json5.parse(text), name, item)
    node = json5.parse(added)
    assert {**tree, name: item} == node.value
    back = editing.removed(added, node, node.children[-1])
    assert tree == json5.parse(back).value
    assert not tree or back == text


@settings(deadline=None)
@given(tree=OBJECTS, indent=st.sampled_from([None, 2]), data=st.data())
def test_any_member_can_be_replaced_or_removed(tree: dict, indent: int | None, data: st.DataObject) -> None:
    """Only the member that was meant changes."""
    tree = {"always": 0, **tree}
    text = json.dumps(tree, indent=indent)
    node = json5.parse(text)
    child = data.draw(st.sampled_from(node.children))
    assert {**tree, child.name: [1, {}]} == json5.parse(editing.replaced(text, child.node, [1, {}])).value
    left = {name: item for name, item in tree.items() if name != child.name}
    assert left == json5.parse(editing.removed(text, node, child)).value
