"""The words that patterns of injection are made of: concepts, each with its terms by language, divided by `|`."""

from minara_site.kernel.core.data_files import load_toml

CONCEPTS: dict[str, dict[str, str]] = {
    concept: {language: terms.replace("\n", "|") for language, terms in by_language.items()}
    for concept, by_language in load_toml(__package__, "injection_lexicon.toml").items()
}
