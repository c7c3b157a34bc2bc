"""Units that, repeated, would hurt a scanner that looks back and forth (trust W-29): crafted, and made of the rules."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from re import _parser  # type: ignore[attr-defined]

from minara_site.kernel import core
from minara_site.kernel.core.bip39 import BIP39_ENGLISH
from minara_site.kernel.core.injection_lexicon import CONCEPTS
from minara_site.kernel.core.injection_patterns import PATTERNS
from minara_site.kernel.core.service_keys import PLUGINS

RUNS = [" ", "\n", "\t", "a", "A", "0", "1", "f", "z", "=", "/", "\\", "%", "&", "#", "<", ">", "[", "]", "(", "{", "|", "-", "_", ".",
        ":", '"', "'", "!", "@", "+", "é", "и", "山", "の", "ا", "가", "\u200b", "\u200d", "\ufe0f", "\u202e", "\U000e0041", "😀", "\u0301", "\x00",
        "a ", "a.", "a b", "1 ", "0x", "ab ", "9K", "mn", "Ａ", "ﷺ", "İ", "ß", "\r\n", "\u2028", "\ud800"]  # fmt: skip
SHAPES = ["<|", "<|a", "<|a |", "[inst", "<<sys", "<system ", "</system", "<information ", "### system", "\nsystem", "\n> system ", "\n#",
          '"role": ', '"role":"system', "[system", "[system message", "<tool_", "<a:invoke", '"tool_call"', '"name":"a","', '"name": "',
          "action: a\n", "\naction:", "end of ", "end of the memory", "[blocked ", "<!-", "<!--", "[//]:", "\n[a", "\n[", "display:", "display: ",
          "![", "![]", "![a](", "![](//", "https://", "https://a?", "https://a?b=", "https://a?b=<", "https://a?b={{", "https://a?b=${", "https://a#",
          "https://a?b=c' ", "http", "console.log(", "new instructions", ". new instructions ", "新的指令", "</memory-context", "<memory", "&lt;", "&#60;",
          "&#60;memory", "%3cmemory", "\\u003c", "<personalization>", "</learnings>", "< / memory - context >"]  # fmt: skip
SECRETS = ["sk-", "sk-a", "sk_live_", "mnr_", "mnr_live_ab_", "ghp_", "github_pat_", "AKIA", "AKIAIOSFODNN7", "eyJ", "eyJhbGci.", "eyJhbGciOi.a.", "xprv",
           "xprv9s21ZrQH143K", "5H", "K", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "BEGIN PRIVATE KEY", "password: ", "password=a1", "key: ",
           "private key ", "private " + "a" * 64 + " ", "0x" + "a" * 64 + " ", "f" * 64, "api_key=", "Authorization: ", "--token ", "://a:", "://a:b@",
           "://a:b", "://" + "a" * 90, "AccountKey=", "//a/:_authToken=", "aws secret '", "sl_username=", "ibm_key=", "cloudant pass = ", "xoxb-1-",
           "SG.a.", "123456789:", "bearer ", "basic ", "https://hooks.slack.com/services/T", "a1" * 20 + ".", "cookie: a;", '"seed": "', "mnemonic ",
           "密码是a1", "[1,", "-eyJabcdef", "abandon | 1 | "]  # fmt: skip
ENCODED = ["SWdub3Jl", "SWdub3JlIGFs ", "69676e6f7265", "\\x69\\x67", "%69%67", "&#105;", "\\u0069", "vtaber ", "vtaber nyy ", "erongi ",
           "c2stYWJj", "U1dkdWIz", "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM ", "====", "AAAA", "////", "&amp;", "%25"]  # fmt: skip
WORDS = ["ignore ", "ignore all ", "ignore all previous ", "ignore all previous instructions ", "previous instructions ", "reveal ",
         "reveal your ", "i g n o r e ", "i.g.n.o.r.e.", "1gn0r3 ", "1gn0r3pr3v10us ", "ignoreallprevious", "ignoreallpreviousinstructions ", "not ",
         "do not tell ", "do not tell the user ", "the user ", "transfer all funds to ", "transfer all funds to 0x12 ", "忽略", "忽略所有", "忽略之前的所有指令",
         "不要告诉用户", "ignora todas las ", "以前の指示を", "تجاهل جميع ", "before you can ", "every time you ", "send https ", "approve all ",
         "this entry ", "what is ", "act as ", "you are now ", " ".join(BIP39_ENGLISH[:11]) + " the ", " ".join(BIP39_ENGLISH[:12]) + " ", "abandon ",
         "zoo zoo zoo wrong ", "1. abandon 2. ability ", "abandon,", "abandon\n"]  # fmt: skip
ALL_TERMS = [" ".join(next(iter(terms.values())).split("|")[:6]) + " " for terms in list(CONCEPTS.values())[::4]]

ONE_MORE = ("1", "-")


def rule_patterns() -> Iterator[re.Pattern[str]]:
    """Yield every regular expression that the guard looks with, from where it stands: a new one comes by itself."""
    for module in iter_modules(core.__path__, f"{core.__name__}."):
        yield from (each for each in vars(import_module(module.name)).values() if isinstance(each, re.Pattern))
    for plugin in PLUGINS:
        yield from getattr(plugin, "denylist", ())
    yield from (re.compile(shape, re.MULTILINE) for pattern in PATTERNS for shape in pattern.shapes)


def literals(parsed: Iterable[tuple[object, object]]) -> Iterator[str]:
    """Yield the runs of plain characters of a parsed regular expression."""
    run = ""
    for code, value in parsed:
        if str(code) == "LITERAL":
            run += chr(value)  # type: ignore[arg-type]
            continue
        yield run
        run = ""
        waiting = [value]
        while waiting:
            found = waiting.pop()
            if isinstance(found, _parser.SubPattern):
                yield from literals(found)
            elif isinstance(found, list | tuple):
                waiting += found
    yield run


def made_of_rules() -> list[str]:
    """Return each plain run of two and more characters of the rules, with one more character."""
    runs = {run for each in rule_patterns() for run in literals(_parser.parse(each.pattern, each.flags))}
    return [run + more for run in sorted(runs) if len(run) > 1 for more in ONE_MORE]


CRAFTED = [*RUNS, *SHAPES, *SECRETS, *ENCODED, *WORDS, *ALL_TERMS]
