"""The patterns of injection that ship. Each tells one way in which a text gives orders to the agent that reads it.

Phrases are made of the concepts in `injection_words`. Shapes run over folded text: small letters, plain brackets and
quotes. A shape stays linear: every repetition is bounded, or possessive (`++`, `{0,9}+`) over characters that cannot
begin what follows.
"""

from minara_site.kernel.core.injection import Pattern, Phrase

_URL = r"(?:https?:)?//"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "override_instructions",
        phrases=(
            Phrase("override scope orders", gap=4),
            Phrase("override orders before"),
            Phrase("override system_prompt"),
            Phrase("override all_of_it told", gap=2),
            Phrase("scope orders voided", gap=6),
            Phrase("orders before voided", gap=4),
        ),
    ),
    Pattern(
        "new_instructions",
        phrases=(Phrase("new_task"),),
        shapes=(
            (
                r"(?:^|[.!?\"'>\])#*-])\s{0,5}(?:your |my )?(?:new|updated|revised|real|additional) (?:system )?"
                r"(?:instructions?|directives?|system prompt|prompt)\s{0,3}(?:are|is)?\s{0,3}:"
            ),
            (
                r"^[ \t]{0,10}#{1,6}[ \t]{0,5}(?:your )?(?:new|updated|revised|real|additional) (?:system )?"
                r"(?:instructions?|directives?|orders for you)[ \t]{0,3}$"
            ),
            r"新(?:的|しい)?(?:系统)?(?:指令|指示|命令)\s{0,3}:",
            r"\b(?:nuevas instrucciones|nouvelles instructions|neue anweisungen|novas instrucoes)\s{0,3}:",
            r"تعليمات جديدة\s{0,3}:",
        ),
    ),
    Pattern(
        "role_tag",
        shapes=(
            r"<\|[a-z0-9_ \u2581]{1,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
            (
                r"</?(?:system|assistant|developer|instructions?|information|important|admin|system_prompt|system-prompt)"
                r"(?:\s[^>\n]{0,100}+)?>"
            ),
            r"^[ \t]{0,10}#{1,6}[ \t]{0,5}(?:system|instructions?|assistant|developer)(?: prompt| message)?[ \t]{0,3}:",
            (
                r"^[ \t]{0,10}[>*\"'(\[-]{0,3}(?:system|developer|assistant|系统|系統|システム|sistema|systeme|النظام)"
                r"(?: (?:message|prompt|note|override|instructions?|notice))?[\"')\]*]{0,3}[ \t]{0,3}:"
            ),
            r"[\"']role[\"']\s{0,5}:\s{0,5}[\"'](?:system|assistant|developer|tool)[\"']",
            r"【(?:系统|系統|开发者|開發者|管理员|管理員)(?:提示|消息|指令|通知|命令|訊息)】",
            r"\[(?:system|assistant|developer|admin)(?: (?:message|note|prompt|override|update|notice))?\]",
        ),
    ),
    Pattern(
        "tool_call",
        shapes=(
            r"</?(?:[a-z]{1,10}:)?(?:tool_use|tool_calls?|function_calls?|function_results?|tool_results?|invoke)\b",
            r"\"(?:tool_calls?|function_call|tool_use)\"\s{0,5}:",
            r"[\"']name[\"']\s{0,5}:\s{0,5}[\"'][^\"'\n]{1,60}+[\"']\s{0,5},\s{0,5}[\"'](?:arguments|parameters|input)[\"']\s{0,5}:",
            r"\brm -(?:rf|fr)\b|\b(?:curl|wget) [^\n|]{1,200}+\| ?(?:sudo )?(?:ba|z)?sh\b",
            r"^[ \t]{0,5}action\s{0,3}:[^\n]{1,80}+\n[ \t]{0,5}action input\s{0,3}:",
        ),
        phrases=(Phrase("!call_tool money_tool", gap=1), Phrase("!run_command")),
    ),
    Pattern(
        "forged_boundary",
        shapes=(
            (
                r"\b(?:end|start|beginning) of (?:the |your )?(?:memory|memories|system prompt|user prompt|instructions"
                r"|untrusted (?:data|input|content))\b(?! (?:leak|usage|card|manual)s?\b)"
            ),
            r"\[(?:blocked|held|released|quarantined?|approved by (?:the )?(?:user|operator))\s{0,3}:",
        ),
    ),
    Pattern(
        "hidden_comment",
        shapes=(
            r"<!--",
            r"^[ \t]{0,3}\[[^\]\n]{0,60}+\]:[ \t]{0,5}#",
            r"\[//\]:[ \t]{0,5}#",
            r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0",
        ),
    ),
    Pattern(
        "exfiltrate_data",
        phrases=(Phrase("!carry possessions where", gap=6),),
        shapes=(
            rf"!\[[^\]\n]{{0,200}}+\]\(\s{{0,5}}<?{_URL}",
            r"https?://[^\s?&#]{0,200}+[?&#][^\s<{$+]{0,200}+(?:<[a-z_ ]{2,40}>|\{\{?[a-z_ .]{2,40}\}|\$\{|\+)",
            r"https?://[^\s?&#\"']{0,200}+[?&][^\s\"']{0,100}+[\"'] ?\+",
        ),
    ),
    Pattern(
        "reveal_prompt",
        phrases=(
            Phrase("!reveal system_prompt", gap=6),
            Phrase("!what_are system_prompt", gap=5),
            Phrase("!system_prompt reveal_last", gap=4),
            Phrase("asked_orders"),
            Phrase("lead_in said_orders", gap=4),
            Phrase("!recite above_text", gap=2),
            Phrase("!lead_in system_prompt", gap=5),
        ),
        shapes=(r"<system_prompt>|\bconsole\.log\(\s{0,3}system",),
    ),
    Pattern(
        "reveal_secrets",
        phrases=(
            Phrase("!reveal secret", gap=3),
            Phrase("!secret reveal_last", gap=4),
            Phrase("!coax user secret", gap=5),
            Phrase("!reveal private_data in_context", gap=3),
        ),
    ),
    Pattern(
        "take_over_persona",
        phrases=(
            Phrase("!become unbound", gap=4),
            Phrase("unbound become_last", gap=4),
            Phrase("!behave without ethics"),
            Phrase("!claim privilege", gap=2),
        ),
    ),
    Pattern(
        "disable_safeguards",
        phrases=(
            Phrase("!disable guard", gap=4),
            Phrase("!guard disabled_last"),
            Phrase("!override user_limits", gap=2),
            Phrase("!raise limit boundless", gap=3),
            Phrase("!limit raised_to boundless", gap=1),
            Phrase("!pretend guard check_passed", gap=3),
            Phrase("!pretend from_whom agreed", gap=2),
            Phrase("!from_whom agreed pretend_last", gap=3),
            Phrase("you_skip consent"),
        ),
    ),
    Pattern(
        "blanket_approval",
        phrases=(
            Phrase("!always approve deals", gap=2),
            Phrase("!approve every deals", gap=2),
            Phrase("!every deals approve", gap=3),
            Phrase("!approve_all"),
            Phrase("!pay_out unasked", gap=12),
            Phrase("pay_out no_longer consent", gap=1),
            Phrase("!approve deals any_address", gap=2),
        ),
    ),
    Pattern(
        "move_funds",
        phrases=(
            Phrase("!move most funds address", gap=5),
            Phrase("!move most funds destination", gap=5),
            Phrase("!move all_of_it address"),
            Phrase("!move all_of_it destination"),
            Phrase("!most funds move_last address", gap=4),
            Phrase("!most funds address move_last", gap=4),
            Phrase("!whenever use_instead address", gap=8),
            Phrase("on_reading move funds", gap=8),
            Phrase("on_reading move address", gap=8),
            Phrase("on_reading move destination", gap=8),
            Phrase("on_reading move_last", gap=20),
        ),
    ),
    Pattern(
        "keep_from_user",
        phrases=(
            Phrase("conceal from_whom", gap=5),
            Phrase("from_whom conceal_last", gap=5),
            Phrase("hide_this record", gap=3),
            Phrase("record hide_this", gap=2),
            Phrase("record conceal_last"),
            Phrase("no_warning obey", gap=10),
        ),
    ),
    Pattern(
        "persist_in_memory",
        phrases=(
            Phrase("keep entry for_ever", gap=5),
            Phrase("protect entry", gap=1),
            Phrase("entry protect_last", gap=6),
            Phrase("entry outranks", gap=2),
        ),
    ),
    Pattern(
        "act_on_every_answer",
        phrases=(
            Phrase("each_answer do where", gap=12),
            Phrase("do where each_answer", gap=12),
            Phrase("each_answer where do", gap=12),
            Phrase("!standing recommend purchase"),
            Phrase("!standing purchase recommend_last", gap=8),
        ),
    ),
    Pattern(
        "borrowed_authority",
        phrases=(
            Phrase("before_task must_do", gap=8),
            Phrase("message authority"),
            Phrase("i_am your_maker", gap=1),
            Phrase("i_command"),
            Phrase("by_order rank", gap=1),
            Phrase("override_claim disable", gap=6),
            Phrase("override_claim disabled_last", gap=6),
            Phrase("override_claim approve", gap=6),
            Phrase("override_claim move", gap=6),
        ),
    ),
    Pattern(
        "steer_judgement",
        phrases=(Phrase("note_to judge", gap=2), Phrase("rate this_turn verdict"), Phrase("no_lesson")),
    ),
)
