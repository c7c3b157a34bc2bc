"""The words that patterns of injection are made of: concepts, each with its terms by language, divided by `|`.

Terms are folded before use (case, accents, look-alike letters), so they are written as usual. A term of several words
matches them in a row. Trade words that give no orders to an agent (`orders`, `confirmation`, `limit`) stand only
inside longer terms: memories of traders are full of them.
"""

CONCEPTS: dict[str, dict[str, str]] = {
    "not": {
        # What the user keeps to himself to approve is no order to the agent either.
        "en": "not|never|don't|dont|cannot|can't|won't|avoid|refuse to|nobody|no one|user must approve"
        "|user must always approve|user has to approve|user wants to approve|user will approve|i must approve"
        "|i want to approve",
        "zh": "不|不要|别|別|勿|禁止|不得|从不|绝不|避免|用户必须批准|必须由用户|须由用户|都由用户|用户要亲自批准",
        "es": "no|nunca|jamás",
        "fr": "ne|jamais|pas",
        "ar": "لا|لن|لم|أبدا",
        "de": "nicht|nie|niemals",
        "pt": "não|nunca",
        "ru": "не|никогда",
    },
    # To override the agent's orders
    "override": {
        "en": "overlook|ignore|ignoring|disregard|disregarding|forget|forgetting|override|overrule|bypass|neglect"
        "|discard|dismiss|nullify|abandon|violate|circumvent|unlearn|erase|wipe|delete|drop|skip|cancel|void"
        "|invalidate|replace|pay no attention to|take no notice of|do not follow|don't follow|dont follow"
        "|stop following|no longer follow|do not obey|don't obey|stop obeying|not bound by|do not comply with"
        "|set aside|throw away|cast aside",
        "zh": "忽略|无视|無視|忘记|忘記|忘掉|忽视|忽視|不要遵守|不再遵守|不要遵循|不再遵循|停止遵守|不要理会"
        "|不必理会|不用理会|不要理會|别管|別管|不管|抛开|拋開|丢弃|丟棄|绕过|繞過|推翻|违反|違反|覆盖|覆蓋|清除|取消"
        "|废除|廢除",
        "es": "olvídate de|olvídese de|olvidarse de|ignora|ignore|ignorar|ignoren|ignorad|olvida|olvide|olvidar"
        "|olviden|descarta|descarte|omite|omita|haz caso omiso|haga caso omiso|no sigas|no siga|no obedezcas"
        "|deja de seguir|desobedece|pasa por alto|no hagas caso",
        "fr": "ignore|ignorez|ignorer|oublie|oubliez|oublier|néglige|négligez|ne tiens pas compte"
        "|ne tenez pas compte|ne tiens plus compte|ne tenez plus compte|fais abstraction|faites abstraction"
        "|ne suis plus|ne suivez plus|ne suis pas|ne suivez pas|désobéis|contourne|contournez|outrepasse|outrepassez"
        "|passe outre|passez outre",
        "ar": "تجاهل|تجاهلي|تجاهلوا|انس|انسى|اهمل|لا تتبع|لا تلتزم|تخط|تخطى|تجاوز|ألغ",
        "de": "ignoriere|ignorieren|ignoriert|vergiss|vergesst|vergessen sie|missachte|missachten|umgehe|umgehen"
        "|überschreibe|befolge nicht|folge nicht|halte dich nicht an|verwirf",
        "pt": "ignore|ignora|ignorar|esqueça|esquece|desconsidere|desconsidera|descarte|não siga|desobedeça",
        "ru": "игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|не следуй|не следуйте|отбрось|нарушь",
    },
    "scope": {
        "en": "all|previous|prior|above|earlier|preceding|foregoing|existing|former|past|original|initial|your|its"
        "|system|developer|hidden|internal|other|every|safety|the agent's|any previous|any prior",
        "zh": "之前|以前|以上|上面|先前|前面|所有|全部|一切|原有|原来|原來|你的|您的|系统|系統|现有|既有|此前|上述"
        "|任何",
        "es": "todas|todos|anteriores|anterior|previas|previos|previa|tus|originales|iniciales",
        "fr": "toutes|tous|tout|précédentes|précédents|antérieures|antérieurs|tes|vos|initiales",
        "ja": "以前|これまで|今まで|上記|すべて|全て|全部|先ほど|あなた|システム|前の|元の|あらゆる|従来",
        "ar": "جميع|كل|كافة|كامل",
        "de": "alle|allen|aller|sämtliche|vorherigen|vorherige|vorigen|bisherigen|früheren|obigen|vorangegangenen"
        "|deine|deinen|ursprünglichen",
        "pt": "todas|todos|anteriores|prévias|prévios|suas|tuas",
        "ru": "все|всех|предыдущие|прежние|прошлые|вышеуказанные|свои|твои|прошлых|предыдущих",
        "ko": "이전|모든|위의|앞의|기존|지금까지|너의",
    },
    "orders": {
        "en": "instruction|instructions|prompt|prompts|directive|directives|guideline|guidelines|rule|rules|command"
        "|commands|constraint|constraints|restriction|restrictions|programming|training|policies|protocols"
        "|safeguards|guardrails|messages|context|directions",
        "zh": "指令|指示|规则|規則|提示|提示词|提示詞|命令|限制|约束|約束|要求|规定|規定|准则|準則|安全措施|对话|對話",
        "es": "instrucciones|instrucción|reglas|directivas|directrices|indicaciones|restricciones|normas"
        "|limitaciones|comandos|mensajes",
        "fr": "instructions|instruction|consignes|consigne|règles|directives|directive|restrictions|contraintes"
        "|limitations|messages",
        "ja": "指示|命令|ルール|規則|プロンプト|制約|制限|指令|会話|メッセージ|ガイドライン",
        "ar": "التعليمات|تعليمات|تعليماتك|الأوامر|أوامر|القواعد|قواعد|التوجيهات|توجيهات|القيود|الإرشادات|إرشادات"
        "|الرسائل",
        "de": "anweisungen|anweisung|instruktionen|regeln|vorgaben|befehle|richtlinien|einschränkungen|anordnungen",
        "pt": "instruções|instrução|regras|diretrizes|restrições|comandos|orientações",
        "ru": "инструкции|инструкций|правила|указания|команды|ограничения|промпт|промпты|подсказки",
        "ko": "지시|명령|규칙|프롬프트|지침|제한|대화",
    },
    "before": {
        "en": "above|so far|up to now|up to this point|you were given|given to you|you have been given|given earlier"
        "|that came before|you received|previously given|you have received",
        "zh": "以上|上面",
        "es": "anteriores|anterior|previas|previos|precedentes|de arriba|que te dieron|que recibiste|iniciales"
        "|originales|del sistema",
        "fr": "précédentes|précédents|précédente|antérieures|antérieurs|ci-dessus|plus haut|initiales|du système"
        "|que tu as reçues|que vous avez reçues",
        "ar": "السابقة|السابق|أعلاه|الأصلية|السابقات",
        "de": "oben|zuvor|von vorhin|die du erhalten hast",
        "pt": "anteriores|prévias|acima|do sistema",
        "ru": "выше|ранее",
    },
    "voided": {
        "en": "are void|is void|ignored|disregarded|obsolete|cancelled|canceled|no longer apply|no longer applies"
        "|no longer valid|are revoked|superseded|overridden|null and void|are invalid",
        "zh": "作废|作廢|无效|無效|失效|不再有效|不再适用|不再適用",
        "es": "quedan anuladas|ya no son válidas|ya no aplican|quedan sin efecto",
        "fr": "sont nulles|ne s'appliquent plus|sont annulées|ne sont plus valables",
        "ja": "無視|忘れ|破棄|従わない|従うな|守らない|取り消|無効|捨て",
        "ar": "ملغاة|لاغية|لم تعد سارية",
        "ko": "무시|잊어|잊고|따르지",
    },
    "all_of_it": {
        "en": "everything|all|anything|whatever",
        "zh": "一切|所有|全部",
        "es": "todo",
        "fr": "tout",
        "de": "alles",
        "ar": "كل|جميع",
    },
    "told": {
        "en": "you were told|you have been told|you've been told|you were taught|you were given|you know about"
        "|i told you|said above|written above|stated above|the above|before this point|so far",
        "zh": "告诉你的|告訴你的|说过的|說過的",
        "es": "que te dijeron|lo anterior|que sabes",
        "fr": "ce qu'on t'a dit|ce qui précède|que tu sais",
        "de": "was dir gesagt wurde|was oben steht",
        "ar": "قيل لك|ما قيل لك",
    },
    "system_prompt": {
        "en": "prompt you were|your complete configuration|your full configuration|your configuration"
        "|your system rules|system prompt|system prompts|system message|system messages|system instruction"
        "|system instructions|systemprompt|initial prompt|initial prompts|initial instructions|original instructions"
        "|original prompt|hidden prompt|hidden instructions|hidden system prompt|internal instructions"
        "|internal prompt|internal rules|developer message|developer instructions|developer prompt|your instructions"
        "|your prompt|your prompts|your initial configuration|initial configuration|preprompt|secret instructions"
        "|confidential instructions|your guidelines|your directives|your programming|base prompt|core instructions"
        "|your system|your rules|instructions you were given|instructions given to you|instructions you received"
        "|rules you were given|prompt you were given|internal configuration|internal configurations",
        "zh": "系统提示|系統提示|系统指令|系統指令|初始指令|初始提示|隐藏指令|隱藏指令|内部指令|內部指令|系统消息"
        "|开发者指令|开发者提示|你的指令|你的提示词|你的规则|原始指令",
        "es": "prompt del sistema|instrucciones del sistema|tus instrucciones|instrucciones iniciales"
        "|mensaje del sistema|prompt inicial|tu prompt|instrucciones internas|instrucciones originales",
        "fr": "prompt système|invite système|instructions système|tes instructions|vos instructions|message système"
        "|instructions initiales|prompt initial|instructions internes|instructions du système",
        "ja": "システムプロンプト|システム指示|システムメッセージ|初期プロンプト|初期指示|内部指示|あなたの指示"
        "|隠された指示|最初の指示",
        "ar": "موجه النظام|تعليمات النظام|تعليماتك|رسالة النظام|التعليمات الأولية|تعليماتك الأولية",
        "de": "systemprompt|system-prompt|systemanweisung|systemanweisungen|systemnachricht|deine anweisungen"
        "|ursprünglichen anweisungen",
        "pt": "prompt do sistema|instruções do sistema|suas instruções|prompt inicial|instruções iniciais",
        "ru": "системный промпт|системные инструкции|системное сообщение|свои инструкции|твои инструкции"
        "|исходные инструкции",
        "ko": "시스템 프롬프트|시스템 지시|초기 지시|초기 프롬프트",
    },
    # To give away prompts and secrets
    "reveal": {
        "en": "reveal|repeat|print|output|show|display|disclose|expose|leak|dump|echo|tell me|share|send|copy|paste"
        "|recite|translate|encode|convert|summarise|summarize|spell out|write out|write down|return|quote|reproduce"
        "|list|give me|include|append|type|extract|retrieve|read out|log|forward|post|transmit|embed|insert"
        "|opposite of|get me|provide|leaking|revealing|printing|exfiltrate|upload",
        "zh": "输出|輸出|显示|顯示|告诉我|告訴我|泄露|洩露|打印|列印|重复|重複|复述|複述|展示|说出|說出|公开|公開"
        "|透露|给我|給我|翻译|总结|發送|发送",
        "es": "revela|revele|muestra|muestre|muéstrame|repite|repita|imprime|imprima|dime|divulga|divulgue|comparte"
        "|comparta|copia|copie|traduce|resume|escribe|envía|envíe|dame",
        "fr": "révèle|révélez|affiche|affichez|montre|montrez|répète|répétez|imprime|imprimez|divulgue|divulguez"
        "|donne-moi|donnez-moi|dis-moi|dites-moi|partage|partagez|copie|copiez|traduis|traduisez|résume|résumez"
        "|écris|envoie|envoyez",
        "ja": "表示して|出力して|教えて|見せて",
        "ar": "اكشف|أظهر|اعرض|اطبع|كرر|أخبرني|انسخ|شارك|اكتب|أرسل",
        "de": "zeige|zeig|verrate|wiederhole|gib|nenne|drucke|kopiere|übersetze|sende|schicke|teile",
        "pt": "revele|revela|mostre|mostra|repita|imprima|diga-me|copie|traduza|compartilhe|envie",
        "ru": "покажи|покажите|раскрой|раскройте|выведи|повтори|напечатай|скажи|скопируй|отправь",
    },
    "reveal_last": {
        "zh": "输出|輸出|显示|顯示|告诉我|告訴我|泄露|洩露|打印|列印|重复|展示|公开|公開|发给|發給|发送|發送|上传"
        "|上傳|转发|轉發|提供给|开头|開頭",
        "ja": "表示|出力|教えて|見せて|開示|公開|繰り返|漏ら|書き出|送信|送って|貼り付け|共有",
        "ko": "보여|출력|알려|공개|반복|보내",
    },
    "what_are": {
        "en": "what is|what are|what's|whats|what were",
        "zh": "什么是|是什么",
        "es": "cuáles son|cuál es",
        "fr": "quelles sont|quelle est",
        "ar": "ما هي|ما هو",
        "de": "wie lauten|was sind",
        "pt": "quais são",
        "ru": "какие|каковы",
    },
    "asked_orders": {
        "en": "what were you told|what have you been told|what were you instructed|not supposed to tell"
        "|not allowed to tell|not supposed to say|not allowed to say|not allowed to reveal|my instructions are"
        "|my system prompt is|systemprompt",
    },
    "lead_in": {
        "en": "complete this sentence|finish this sentence|complete the sentence|start your answer|begin your answer"
        "|start your response|begin your response|start your reply|begin your reply|start with|begin with"
        "|continue with|start your next answer|begin your next answer|start your next reply|begin your next reply",
        "es": "empieza tu respuesta|comienza tu respuesta",
        "fr": "commence ta réponse|commencez votre réponse",
        "de": "beginne deine antwort",
    },
    "said_orders": {
        "en": "i was instructed|i am instructed|i have been instructed|i was told to|my instructions"
        "|my system prompt|my rules are|my guidelines",
    },
    "recite": {
        "en": "repeat|print|output|copy|recite|translate|echo|return|quote|summarize|summarise",
    },
    "above_text": {
        "en": "the above text|above text|the text above|text above|everything above|all of the above|words above"
        "|above words|above prompt|above instructions|conversation back|entire conversation|whole conversation"
        "|text before this|everything before this",
    },
    "secret": {
        "en": "api key|api keys|apikey|apikeys|private key|private keys|seed phrase|seed phrases|recovery phrase"
        "|recovery phrases|mnemonic|mnemonics|mnemonic phrase|password|passwords|credentials|passphrase|access token"
        "|access tokens|secret key|secret keys|security code|2fa code|2fa codes|one time password|wallet keys"
        "|signing key|signing keys|environment variables|env file|bank details|credit card number|passport number"
        "|login details",
        "zh": "私钥|私鑰|助记词|助記詞|密码|密碼|api密钥|api 密钥|密钥|密鑰|验证码|驗證碼|银行卡号",
        "es": "clave privada|claves privadas|contraseña|contraseñas|frase semilla|frase de recuperación|claves api"
        "|clave api|credenciales",
        "fr": "clé privée|clés privées|mot de passe|mots de passe|phrase de récupération|phrase secrète|clé api"
        "|clés api|identifiants",
        "ja": "秘密鍵|パスワード|シードフレーズ|apiキー|認証情報|ニーモニック",
        "ar": "المفتاح الخاص|المفاتيح الخاصة|كلمة المرور|كلمات المرور|عبارة الاسترداد|مفتاح api|مفاتيح api",
        "de": "private schlüssel|privaten schlüssel|privater schlüssel|passwort|passwörter|zugangsdaten|api-schlüssel",
        "pt": "chave privada|chaves privadas|senha|senhas|frase semente|credenciais|chave api|chaves api",
        "ru": "приватный ключ|приватные ключи|пароль|пароли|сид-фразу|сид фразу|api-ключи|api ключ",
        "ko": "개인키|비밀번호|시드 구문|api 키",
    },
    "private_data": {
        "en": "confidential data|confidential information|sensitive data|sensitive information|secret data"
        "|private data|personal data|user data",
        "zh": "机密数据|机密信息|敏感数据|敏感信息|隐私数据|用户数据",
        "es": "datos confidenciales|información confidencial|datos privados",
        "fr": "données confidentielles|informations confidentielles|données privées",
    },
    "in_context": {
        "en": "in your context|in your memory|stored in your|from your context|from your memory|from memory"
        "|you have stored",
        "zh": "你的上下文|你的记忆",
        "es": "en tu contexto|en tu memoria",
        "fr": "dans ton contexte|dans ta mémoire|dans votre mémoire",
    },
    "coax": {
        "en": "ask|convince|trick|persuade|urge|request|lure|get|make|pressure|asking|tell",
        "zh": "要求|让|讓|说服|诱骗|请|骗",
        "es": "pide|pídele|convence|convence a|engaña",
        "fr": "demande|demandez|convaincs|persuade",
    },
    "user": {
        "en": "user|users|customer|customers|client|clients|owner|operator",
        "zh": "用户|用戶|客户|操作员",
        "es": "usuario|usuarios|cliente",
        "fr": "utilisateur|utilisateurs|client",
    },
    # To become somebody else
    "become": {
        "en": "pretend you have|imagine you have|act as|act like|behave as|behave like|pretend to be|pretend you are"
        "|pretend that you are|roleplay as|role play as|role-play as|you are now|you're now|imagine you are"
        "|from now on you are|impersonate|respond as|answer as|simulate|enter|enter into|activate|enable|switch to"
        "|switch into|go into|become|assume the role of|take on the role of|play the role of|operate in|operate as"
        "|turn on|you are in|you will be",
        "zh": "从现在开始|从现在起|從現在開始|從現在起|现在起|現在起|你现在是|你現在是|你是|扮演|假装|假裝"
        "|进入|進入|切换到|切換到|充当|充當|启用|开启"
        "|啟用",
        "es": "actúa como|actúe como|finge ser|ahora eres|compórtate como|entra en|activa|hazte pasar por",
        "fr": "agis comme|agissez comme|tu es maintenant|vous êtes maintenant|fais semblant d'être"
        "|comporte-toi comme|passe en|active|activez|fais-toi passer pour|joue le rôle",
        "ja": "あなたは今|あなたは今から|今からあなたは|これからあなたは",
        "ar": "أنت الآن|تصرف ك|تصرف وكأنك|تظاهر بأنك|ادخل في|ادخل",
        "de": "du bist jetzt|verhalte dich wie|tu so als|handle als|wechsle in",
        "pt": "você agora é|aja como|finja ser|entre no|comporte-se como",
        "ru": "ты теперь|теперь ты|притворись|действуй как|веди себя как|перейди в",
    },
    "become_last": {
        "ja": "入って|切り替え|移行|振る舞|振舞|なって|有効|動作|演じ",
        "ko": "전환|들어가|행동|되어",
    },
    "unbound": {
        "en": "unfiltered|unrestricted|uncensored|jailbroken|jailbreak|developer mode|debug mode|god mode|dan mode"
        "|dan|do anything now|admin mode|root mode|sudo mode|evil|amoral|unethical|system administrator|it support"
        "|technical support|customer support|root user|superuser|a bank employee|no restrictions"
        "|without restrictions|without any restrictions|without rules|free of all restrictions|the administrator",
        "zh": "没有任何限制|沒有任何限制|开发者模式|開發者模式|无限制|無限制|不受限制|越狱|越獄|管理员|管理員"
        "|没有限制|沒有限制|不受约束|不再受约束|不再受約束|不再受任何限制|不再受任何规则限制|不再受任何規則限制|dan",
        "es": "sin restricciones|sin filtros|modo desarrollador|sin censura|sin límites|administrador|soporte técnico",
        "fr": "sans restrictions|sans restriction|sans filtre|sans filtres|sans limites|mode développeur"
        "|sans censure|administrateur|support technique",
        "ja": "開発者モード|制限なし|無制限|検閲なし|脱獄|デバッグモード|管理者",
        "ar": "بدون قيود|بلا قيود|وضع المطور|غير مقيد|بدون حدود|مسؤول النظام",
        "de": "ohne einschränkungen|entwicklermodus|ungefiltert|unzensiert|ohne regeln|administrator",
        "pt": "sem restrições|modo desenvolvedor|sem filtros|sem censura|administrador",
        "ru": "без ограничений|режим разработчика|режиме разработчика|режим администратора|без цензуры",
        "ko": "개발자 모드|제한 없는|무제한|탈옥",
    },
    "behave": {
        "en": "operate|respond|answer|act|behave|continue|function|reply|speak|output|generate|proceed",
        "es": "responde|actúa|opera",
        "fr": "réponds|répondez|agis|opère",
        "de": "antworte|handle",
    },
    "without": {
        "en": "without|free of|free from|ignoring|devoid of",
        "es": "sin",
        "fr": "sans",
        "de": "ohne",
    },
    "ethics": {
        "en": "ethical|ethics|moral|morals|policy constraints|content policy|safety|filters|censorship|guardrails"
        "|safeguards|guidelines|any restrictions|restrictions",
        "es": "ética|restricciones|filtros|censura",
        "fr": "éthique|restrictions|filtres|censure",
        "de": "ethik|einschränkungen|filter|zensur",
    },
    "claim": {
        "en": "assume|you have|you now have|you've|grant yourself|give yourself|gain|elevate to|escalate to|use your",
    },
    "privilege": {
        "en": "full access|admin access|administrator access|root access|unrestricted access|unlimited access"
        "|administrator privileges|admin privileges|admin rights|root privileges|elevated privileges"
        "|full permissions|full permission|operator rights|all permissions",
    },
    # To switch off what protects the user
    "disable": {
        "en": "disable|disables|turn off|deactivate|bypass|override|remove|lift|waive|waived|waives|skip|suspend"
        "|circumvent|switch off|ignore|disregard|evade|exempt from|assume no|raise|increase|disarm|neutralize",
        "zh": "关闭|關閉|停用|禁用|跳过|跳過|绕过|繞過|解除|取消|不再需要|不需要|无需|無需|免除|忽略|提高|不必|不用",
        "es": "desactiva|desactive|desactivar|deshabilita|omite|omita|salta|elude|evita|elimina",
        "fr": "désactive|désactivez|désactiver|contourne|contournez|supprime|supprimez|saute|ignore|ignorez|évite",
        "ar": "عطل|أوقف|تخط|تخطى|تجاوز|ألغ|تجاهل",
        "de": "deaktiviere|umgehe|überspringe|schalte",
        "pt": "desative|desativa|ignore|pule|remova",
        "ru": "отключи|отключите|обойди|пропусти|сними",
    },
    "guard": {
        "en": "risk gate|risk gates|risk limit|risk limits|risk check|risk checks|risk control|risk controls"
        "|safety mechanism|safety mechanisms|safety check|safety checks|safety limits|safety rules|safety filter"
        "|safety filters|safety protocols|safety measures|safeguard|safeguards|guardrail|guardrails"
        "|user confirmation|user confirmations|confirmations|confirmation step|confirmation dialog|user approval"
        "|approval step|approval gate|approval process|approvals|spending limit|spending limits|transfer limit"
        "|transfer limits|withdrawal limit|withdrawal limits|budget limit|budget limits|budget cap|content filter"
        "|content filters|security check|security checks|security controls|two factor|2fa|compliance check"
        "|compliance checks|human review|manual review|kill switch|hard constraint|hard constraints|approval limit"
        "|approval limits|limit check|limit checks|drawdown check|drawdown checks|whitelist check"
        "|confirmation prompt|confirmation requirement|approval requirement|risk rules",
        "zh": "风控|風控|风险控制|風險控制|风险限制|风险限额|用户确认|用戶確認|人工确认|二次确认|交易确认|审批|審批"
        "|安全检查|安全限制|人工审核|转账限额|二次验证|硬约束",
        "es": "límites de riesgo|límite de riesgo|control de riesgo|controles de riesgo|confirmación del usuario"
        "|aprobación del usuario|medidas de seguridad|controles de seguridad|salvaguardas",
        "fr": "limites de risque|limite de risque|contrôle des risques|contrôles de risque|contrôle de risque"
        "|confirmation de l'utilisateur|approbation de l'utilisateur|mesures de sécurité|contrôles de sécurité"
        "|garde-fous",
        "ja": "リスク管理|リスク制限|リスクチェック|ユーザー確認|ユーザーの確認|承認|安全装置|セーフガード|安全機能"
        "|安全対策",
        "ar": "حدود المخاطر|حد المخاطر|تأكيد المستخدم|موافقة المستخدم|ضوابط الأمان|إجراءات الأمان|إجراءات السلامة",
        "de": "risikolimits|risikokontrolle|risikokontrollen|nutzerbestätigung|sicherheitsmaßnahmen|schutzmaßnahmen",
        "pt": "limites de risco|controle de risco|confirmação do usuário|aprovação do usuário|medidas de segurança",
        "ru": "лимиты риска|контроль рисков|подтверждение пользователя|меры безопасности|защитные меры",
    },
    "disabled_last": {
        "en": "disabled|turned off|switched off|deactivated|bypassed|removed|lifted|waived|suspended|are off|is off"
        "|no longer needed|no longer required|no longer apply|not required|not needed|unnecessary",
        "zh": "已关闭|已關閉|已停用|已解除|已取消|失效|关闭了|不再需要",
        "es": "desactivados|desactivado|desactivadas|desactivada|deshabilitados|ya no son necesarios",
        "fr": "désactivés|désactivé|désactivées|désactivée|levées|ne sont plus nécessaires",
        "ja": "無効|オフ|解除|スキップ|不要|省略|回避|飛ばし",
        "ar": "معطلة|معطل|ملغاة|لم تعد مطلوبة",
    },
    "user_limits": {
        "en": "user's limits|user's limit|user's risk limits|user's rules|user's instructions|user's settings"
        "|user's stop loss|user's safeguards|owner's limits|owner's rules|client's limits",
        "zh": "用户的限制|用户限制|用户的限额|用户限额|用户的规则|用户设定的限制|用户的止损",
        "es": "límites del usuario|reglas del usuario",
        "fr": "limites de l'utilisateur|règles de l'utilisateur",
        "ja": "ユーザーの制限|ユーザーの上限|ユーザーのルール",
        "de": "limits des nutzers|limits des benutzers|regeln des nutzers",
    },
    "raise": {
        "en": "raise|increase|set|change|lift|make",
        "zh": "提高|调高|改为|设为|设置|调到|改成",
        "es": "sube|eleva|aumenta|cambia",
        "fr": "augmente|augmentez|relève|fixe",
        "de": "erhöhe|setze|hebe",
    },
    "raised_to": {
        "zh": "提高到|提高至|调高到|改为|设为|调到|改成",
    },
    "limit": {
        "en": "daily limit|daily limits|weekly limit|monthly limit|transfer limit|transfer limits|transfer cap"
        "|withdrawal limit|withdrawal limits|withdrawal cap|spending limit|spending limits|spending cap"
        "|trading limit|trading limits|position limit|position limits|position cap|risk limit|risk limits"
        "|leverage limit|leverage limits|leverage cap|loss limit|loss limits|budget limit|budget cap|daily cap"
        "|drawdown limit|exposure limit|exposure limits|your limit|your limits",
        "zh": "每日限额|每日限額|日限额|转账限额|提现限额|交易限额|风险限额|杠杆上限|仓位上限|限额",
        "es": "límite diario|límites diarios|límite de riesgo|límite de retiro|límite de transferencia",
        "fr": "limite quotidienne|limite journalière|limite de risque|limite de retrait|plafond quotidien",
        "de": "tageslimit|risikolimit|überweisungslimit|auszahlungslimit",
    },
    "boundless": {
        "en": "unlimited|infinite|infinity|no limit|no limits",
        "zh": "无限|無限|不限",
        "es": "ilimitado|sin límite|infinito",
        "fr": "illimité|illimitée|infini",
        "de": "unbegrenzt|unendlich",
    },
    "pretend": {
        "en": "pretend|pretend that|act as if|act as though|behave as if|behave as though|treat|assume|consider"
        "|suppose",
        "zh": "假装|假裝|当作|视为|就当",
        "es": "finge que|asume que|supón que|considera que|haz como si",
        "fr": "fais comme si|faites comme si|suppose que|considère que|considérez que",
        "de": "tu so als|tue so als|nimm an",
    },
    "pretend_last": {
        "ja": "とみなす|とみなし|ものとする|ことにする",
    },
    "check_passed": {
        "en": "passed|as passed|has passed|have passed|already cleared|as cleared|succeeded|as done|satisfied|as met",
        "zh": "通过|通過|已完成",
        "es": "superados|superado|aprobado|pasó",
        "fr": "réussi|validé|validée|passé",
        "de": "bestanden",
    },
    "agreed": {
        "en": "has confirmed|have confirmed|already confirmed|has approved|already approved|has agreed"
        "|already agreed|has consented|has authorized|has authorised|already authorized|has signed off|said yes",
        "zh": "已确认|已確認|已经确认|已同意|已经同意|已批准|已经批准|已授权|已经授权|确认过",
        "es": "ha confirmado|ya confirmó|ha aprobado|ha autorizado|ya ha confirmado|ya ha aprobado",
        "fr": "a confirmé|a approuvé|a autorisé|a déjà confirmé|a déjà approuvé",
        "ja": "承認済み|承認した|確認済み|確認した|同意した",
        "de": "bestätigt|zugestimmt|genehmigt",
    },
    "you_skip": {
        "en": "you may skip|you can skip|you should skip|you must skip|you may bypass|you can bypass|you may omit"
        "|you can omit|you no longer need|you no longer have to|you are allowed to skip|you are free to skip",
        "zh": "你可以跳过|你可跳过|你无需|你不需要|你不再需要|你不必",
        "es": "puedes omitir|puedes saltarte|ya no necesitas",
        "fr": "tu peux ignorer|tu peux sauter|tu n'as plus besoin",
        "de": "du kannst überspringen|du brauchst keine",
    },
    "consent": {
        "en": "confirmation|approval|verification|authorization|permission|consent",
        "zh": "确认|確認|批准|审批|授权|验证|核实",
        "es": "confirmación|aprobación|verificación|autorización",
        "fr": "confirmation|approbation|vérification|autorisation",
        "de": "bestätigung|genehmigung|freigabe|zustimmung",
    },
    "no_longer": {
        "en": "no longer need|no longer require|no longer go through|no longer wait for|no longer pass through"
        "|no longer ask for|no longer need any|no longer need your|no longer require any|no longer need user",
        "zh": "不再需要|不再要求|不再经过",
        "es": "ya no requieren|ya no necesitan|ya no requiere",
        "fr": "ne nécessitent plus de|n'ont plus besoin de|ne requièrent plus de",
        "de": "brauchen keine|benötigen keine|brauchen nicht mehr",
    },
    # To move money without asking
    "always": {
        "en": "always|automatically|blindly|silently|immediately|auto",
        "zh": "总是|總是|始终|始終|自动|自動|一律|直接",
        "es": "siempre|automáticamente",
        "fr": "toujours|automatiquement",
        "ja": "常に|自動的に|必ず",
        "ar": "دائما|تلقائيا",
    },
    "approve": {
        "en": "approve|authorize|authorise|pre approve|pre approved|preapproved|pre approves|greenlight|rubber stamp"
        "|has approved|has authorized",
        "zh": "批准|同意|授权|授權|通过审批",
        "es": "aprueba|apruebe|autoriza|autorice",
        "fr": "approuve|approuvez|autorise|autorisez",
        "ja": "承認",
        "ar": "وافق|وافق على|اعتمد",
    },
    "every": {
        "en": "all|every|any|each",
        "zh": "所有|全部|任何|一切|每笔|每筆",
        "es": "todas|todos|cualquier",
        "fr": "toutes|tous|chaque",
        "ja": "すべて|全て|全部|あらゆる",
        "ar": "جميع|كل|كافة",
    },
    "deals": {
        "en": "trade|trades|transfer|transfers|withdrawal|withdrawals|transaction|transactions|payment|payments"
        "|request|requests|swap|swaps|action|actions",
        "zh": "交易|转账|轉賬|轉帳|提现|提現|付款|支付|请求|請求|汇款",
        "es": "transferencia|transferencias|operaciones|retiros|pagos|transacciones|solicitudes",
        "fr": "transferts|transactions|retraits|paiements|virements|demandes|opérations",
        "ja": "取引|送金|出金|支払い|リクエスト|振込",
        "ar": "التحويلات|المعاملات|عمليات السحب|المدفوعات|الطلبات|الصفقات",
    },
    "any_address": {
        "en": "any address|any addresses|any wallet|any account|any destination|every address|all addresses",
        "zh": "任何地址|任意地址|所有地址|任何钱包|任何账户",
        "es": "cualquier dirección|cualquier cuenta|cualquier billetera",
        "fr": "n'importe quelle adresse|n'importe quel compte|toute adresse",
        "de": "jede adresse|beliebige adresse|jedes konto|beliebige adressen",
    },
    "approve_all": {
        "en": "approve everything|approve anything|approve all requests|auto approve all|authorize everything"
        "|sign everything|sign anything|approve whatever",
        "zh": "批准一切|全部批准|一律批准|同意一切",
        "es": "aprueba todo|autoriza todo",
        "fr": "approuve tout|approuvez tout|autorise tout",
        "ja": "すべて承認|全て承認",
        "ar": "وافق على كل شيء",
    },
    "pay_out": {
        "en": "transfer|transfers|send|sends|withdraw|withdrawal|withdrawals|pay|payments|payment|payout|payouts"
        "|wire|wires|refund|refunds|sign|transactions|remit",
        "zh": "转账|轉賬|轉帳|提现|提現|付款|支付|汇款|匯款|转出|轉出|提币",
        "es": "transferencia|transferencias|retiros|pagos|transfiere|paga",
        "fr": "virement|virements|retraits|paiements|transfère|transferts",
        "ja": "送金|出金|支払い|振込",
        "ar": "التحويلات|تحويل|السحب|المدفوعات",
    },
    "unasked": {
        "en": "without asking|without confirmation|without user approval|without my approval"
        "|without user confirmation|without user consent|without my consent|without permission|no approval needed"
        "|no approval required|no confirmation needed|no confirmation required|do not need approval"
        "|don't need approval|needs no approval|need no approval|do not require approval|without checking with"
        "|without telling|are issued directly|without review|skip approval",
        "zh": "不需要审批|无需审批|不用审批|不需要批准|无需批准|不用批准|不需要确认|无需确认|不用确认|都不需要审批"
        "|免审批|不必确认|不需要審批|無需審批|無需確認|不需要確認|不经确认",
        "es": "sin preguntar|sin confirmación|sin aprobación|sin consultar|no requieren aprobación"
        "|no necesitan aprobación",
        "fr": "sans demander|sans confirmation|sans approbation|sans validation|ne nécessitent pas d'approbation",
        "ja": "確認不要|承認不要|確認なし|承認なし|確認せず|承認は不要|確認は不要",
        "ar": "دون موافقة|بدون موافقة|دون تأكيد|بدون تأكيد|دون سؤال",
        "de": "ohne rückfrage|ohne bestätigung|ohne genehmigung",
    },
    "move": {
        "en": "transfer|send|withdraw|wire|move|sweep|drain|bridge|pay|remit|deposit|swap",
        "zh": "转账|轉賬|轉帳|转移|轉移|转|轉|发送|發送|提取|汇|匯",
        "es": "transfiere|transfiera|envía|envíe|retira|retire|mueve",
        "fr": "transfère|transférez|envoie|envoyez|retire|retirez|vire|virez|déplace",
        "ar": "حول|أرسل|اسحب|انقل",
        "de": "überweise|sende|transferiere|schicke",
        "pt": "transfira|envie|saque",
        "ru": "переведи|переведите|отправь|отправьте|выведи",
    },
    "move_last": {
        "zh": "转到|轉到|转入|轉入|转给|轉給|转移到|轉移到|汇到|發送到|发送到",
        "ja": "送金|移動|送って|転送|送信|振り込",
        "ko": "송금|전송|보내|이체",
    },
    "most": {
        "en": "all|max|maximum|entire|everything|every|full|whole|as much|100",
        "zh": "所有|全部|一切|全数",
        "es": "todo|todos|todas|toda|máximo",
        "fr": "tous|tout|toute|toutes|intégralité|maximum",
        "ja": "すべて|全て|全部|全額|全",
        "ar": "جميع|كل|كافة",
        "de": "alle|alles|gesamte|gesamtes|sämtliche",
        "pt": "todo|todos|toda|todas",
        "ru": "все|весь|всю",
        "ko": "모든|전액|전부",
    },
    "funds": {
        "en": "funds|balance|balances|money|assets|holdings|tokens|coins|portfolio|usdc|usdt|eth|btc|sol|treasury"
        "|wallet",
        "zh": "资金|資金|余额|餘額|资产|資產|代币|币|钱",
        "es": "fondos|saldo|dinero|activos|monedas",
        "fr": "fonds|solde|argent|actifs|jetons",
        "ja": "資金|残高|資産|お金|トークン|額",
        "ar": "الأموال|الرصيد|أموال|الأصول|أموالي",
        "de": "geld|guthaben|vermögen|mittel|coins",
        "pt": "fundos|saldo|dinheiro|ativos",
        "ru": "средства|деньги|баланс|активы",
        "ko": "자금|잔액|자산|돈",
    },
    "address": {
        "en": "0x",
    },
    "destination": {
        "en": "this address|the address|following address|this wallet|following wallet|the account|this account"
        "|following account|attacker|this iban|the iban",
        "es": "esta dirección|la cuenta|esta cuenta",
        "fr": "cette adresse|ce compte|le compte",
        "de": "diese adresse|dieses konto",
    },
    "call_tool": {
        "en": "call|invoke|execute|run",
        "zh": "调用|調用|执行",
        "es": "llama a|invoca",
        "fr": "appelle|invoque",
    },
    "money_tool": {
        "en": "transfer funds|transfer all|withdraw funds|withdraw all|send funds|send transaction|send money"
        "|send payment|transfer money|drain wallet|approve all|wire transfer|transfer tokens|transfer tool"
        "|withdraw tool|withdrawal tool|payment tool|transfer function|withdraw function|withdrawal function"
        "|payment function",
        "zh": "转账工具|提现工具|支付工具|转账函数|提现函数|转账接口",
        "es": "herramienta de transferencia|herramienta de transferencias|herramienta de retiro",
        "fr": "outil de transfert|outil de virement|outil de retrait",
    },
    "run_command": {
        "en": "execute the following command|execute the following commands|run the following command"
        "|run the following commands|execute this command|run this command|execute the shell command"
        "|run the shell command|execute the command below|run the command below|type the following command"
        "|paste the following command|run this shell command|execute the following script|run the following script",
        "zh": "执行以下命令|执行下列命令|运行以下命令|运行下列命令|執行以下命令|在终端执行|在终端运行|执行以下脚本",
        "es": "ejecuta el siguiente comando|ejecute el siguiente comando|ejecuta este comando",
        "fr": "exécute la commande suivante|exécutez la commande suivante|exécute cette commande",
        "ja": "次のコマンドを実行|以下のコマンドを実行",
        "de": "führe folgenden befehl aus|führe den folgenden befehl aus|führe diesen befehl aus",
    },
    "on_reading": {
        "en": "when you read this|once you read this|after you read this|after reading this|upon reading this"
        "|on reading this|as soon as you read this|the moment you read this|when reading this"
        "|if you are reading this|once you have read this|when you have read this|when you see this message"
        "|when you see this note|when you see this memory|when this memory is loaded|when this memory is recalled"
        "|when this note is loaded",
        "zh": "读到这条|读到这条消息后|读到此|读到这里|看到这条消息|看到此消息|看到这条记忆|阅读本条|讀到這條|读完这条",
        "es": "al leer esto|cuando leas esto|si lees esto|en cuanto leas esto",
        "fr": "quand tu lis ceci|quand vous lisez ceci|en lisant ceci|dès que tu lis ceci|si tu lis ceci"
        "|lorsque vous lisez ceci",
        "ja": "これを読んだら|このメッセージを読んだら|これを読んだとき|このメモを読んだら",
        "de": "wenn du dies liest|wenn du das liest|sobald du dies liest|sobald du das liest",
    },
    "use_instead": {
        "en": "use|replace with|substitute|send to",
        "zh": "使用|改用|换成",
    },
    "whenever": {
        "en": "whenever|when i say|if i say|each time|every time|if the user says|when the user says",
        "zh": "每当|当我说",
    },
    # To stay unseen, to stay for ever, to act on every answer
    "conceal": {
        "en": "never let|do not let|don't let|do not tell|don't tell|dont tell|do not mention|don't mention"
        "|dont mention|do not inform|don't inform|do not reveal|don't reveal|do not disclose|don't disclose"
        "|never tell|never mention|never inform|never reveal|never disclose|without telling|without informing"
        "|without mentioning|hide this|hide it|hide that|conceal this|conceal it|conceal|keep this secret"
        "|keep it secret|keep this from|keep this hidden|not let",
        "zh": "不要告诉|不要告訴|别告诉|別告訴|不要提及|不要让|不要讓|勿告知|瞒着|瞞著|瞒住|不告诉|不得告知|不能告诉"
        "|向用户隐瞒|对用户隐瞒",
        "es": "no le cuentes|no cuentes|no comentes|no le digas|no digas|no informes|no le informes|no menciones"
        "|sin decirle|sin informar|no reveles|oculta esto|no se lo digas",
        "fr": "ne parle pas|ne parlez pas|n'en parle pas|ne dis pas|ne dites pas|ne dis rien|ne dites rien"
        "|ne le dis pas|n'informe pas|n'informez pas|ne mentionne pas|ne mentionnez pas|sans informer|sans prévenir"
        "|sans le dire|cache ceci|cachez ceci",
        "ar": "لا تخبر|لا تخبري|لا تذكر|دون إخبار|بدون إخبار|أخف هذا|لا تقل",
        "de": "sage nicht|sag nicht|erzähle nicht|ohne den|verheimliche|erwähne nicht",
        "pt": "não diga|não conte|não informe|sem informar|não mencione",
        "ru": "не говори|не сообщай|не упоминай|не рассказывай|скрой",
    },
    "from_whom": {
        "en": "the user|the users|to user|to users|from user|from users|your user|any user|the operator|operators"
        "|the owner|the human|humans|the reviewer|reviewers|the auditor|auditors|the customer|the client",
        "zh": "用户|用戶|使用者|操作员|操作員|主人|客户|审核员",
        "es": "usuario|operador|dueño",
        "fr": "utilisateur|l'utilisateur|opérateur|l'opérateur",
        "ja": "ユーザー|利用者|オペレーター|所有者",
        "ar": "المستخدم|المشغل|للمستخدم",
        "de": "nutzer|benutzer|anwender",
        "pt": "usuário|utilizador|operador",
        "ru": "пользователю|пользователя|оператору",
        "ko": "사용자|운영자",
    },
    "conceal_last": {
        "ja": "知らせず|伝えず|言わず|教えず|言わない|伝えない|知らせない|教えない|話さない|秘密に|隠し|隠せ|内緒"
        "|言うな|知らせるな|伝えるな",
        "ko": "말하지|알리지|숨겨|비밀",
    },
    "hide_this": {
        "en": "hide this from|conceal this from|omit this from|leave this out of|keep this out of|keep this off"
        "|keep this from|exclude this from|do not log this in|don't log this in|do not mention this in"
        "|don't mention this in|never mention this in|do not include this in|don't include this in"
        "|do not record this in",
        "zh": "隐藏此事|隐瞒此事|隐藏这件事|隐瞒这件事|隐藏这一点|隐藏这条|隐藏本条|不要记录此事|不要记录本条",
        "es": "oculta esto|omite esto|no incluyas esto|no registres esto",
        "fr": "cache ceci|cache cela|omets ceci|n'inclus pas ceci",
        "de": "verbirg dies|verschweige dies|verbirg das vor",
    },
    "record": {
        "en": "summary|summaries|report|reports|log|logs|audit|audit trail|transcript|recap",
        "zh": "摘要|总结|總結|日志|日誌|报告|報告|审计",
        "es": "resumen|informe|registro",
        "fr": "résumé|rapport|journal",
        "ja": "要約|報告|ログ|レポート|監査",
        "de": "zusammenfassung|bericht|protokoll",
    },
    "no_warning": {
        "en": "do not warn|don't warn|never warn|stop warning|do not alert|don't alert|never alert|do not notify"
        "|don't notify|never notify|do not ask|don't ask|never ask",
        "zh": "不要提醒|别提醒|不得提醒|不许提醒|不要警告|不得警告|不许警告|不要询问|不得询问",
        "es": "no adviertas|nunca adviertas|no avises|no alertes",
        "fr": "n'avertis pas|n'avertis jamais|ne préviens pas|n'alerte pas",
        "de": "warne nicht|warne nie|warne niemals",
    },
    "obey": {
        "en": "you must obey|you will obey|you shall obey|you have to obey|you must comply",
        "zh": "你必须服从|必须服从|你必须遵从",
        "es": "debes obedecer",
        "fr": "tu dois obéir|vous devez obéir",
        "de": "du musst gehorchen",
    },
    "entry": {
        "en": "this line|this entry|this memory|this note|this rule|this instruction|this text|this message"
        "|this record",
        "zh": "这条记忆|這條記憶|这条|這條|此条目|本条|此记忆|该记忆|这段话",
        "es": "esta entrada|esta nota|esta memoria|esta línea|este recuerdo",
        "fr": "cette entrée|cette note|cette ligne|ce souvenir|cette mémoire",
        "ja": "この記憶|このメモ|この行|このエントリ|このメッセージ",
        "ar": "هذا السطر|هذه الذاكرة|هذه الملاحظة|هذا الإدخال",
        "de": "diesen eintrag|diese zeile|diese notiz|diese erinnerung",
        "pt": "esta entrada|esta nota|esta linha|esta memória",
        "ru": "эту запись|эту строку|эту заметку",
        "ko": "이 기억|이 메모|이 항목",
    },
    "keep": {
        "en": "keep|preserve|retain|copy|repeat|pin|move|store|save",
        "es": "conserva|mantén|copia",
        "fr": "garde|conserve|copie",
    },
    "for_ever": {
        "en": "verbatim|at the top|to the top|unchanged|forever|permanently|word for word|in every summary|on top",
        "es": "siempre|al principio|textualmente|para siempre",
        "fr": "toujours|en haut|mot pour mot|pour toujours|au début",
    },
    "protect": {
        "en": "never delete|do not delete|don't delete|never remove|do not remove|don't remove|never overwrite"
        "|do not overwrite|must not delete|pin",
        "zh": "不要删除|不得删除|禁止删除|不要刪除",
        "es": "no borres|no elimines|nunca borres|nunca elimines",
        "fr": "ne supprime pas|ne supprimez pas|n'efface pas|n'effacez pas|ne supprime jamais",
        "ar": "لا تحذف|احتفظ ب|لا تمسح",
        "de": "lösche niemals|lösche nie|lösche nicht",
        "pt": "não apague|nunca apague|não exclua",
        "ru": "не удаляй|никогда не удаляй",
    },
    "protect_last": {
        "zh": "置顶|置頂|永久保留|不得删除|不要删除|放在最前|永远保留|排在第一",
        "ja": "削除しない|消さない|一番上|先頭|固定|そのまま|削除するな|永久",
        "ko": "삭제하지|고정|맨 위",
        "en": "never be removed|never be deleted|must always stay|must not be deleted|must not be removed"
        "|must never be",
    },
    "outranks": {
        "en": "overrides|outranks|takes precedence|supersedes|has priority|has the highest priority"
        "|is more important than|must be obeyed",
        "zh": "优先于|优先级最高|高于一切|覆盖其他",
        "es": "tiene prioridad|prevalece",
        "fr": "prévaut|est prioritaire|l'emporte",
    },
    "each_answer": {
        "en": "every time you|each time you|whenever you|before replying|before answering|before you reply"
        "|before you answer|before responding|before each reply|before every reply|after each reply|to each answer"
        "|to every answer|to each reply|to every reply|to each response|to every response|in every reply"
        "|in each reply|in every answer|in each answer|in every response|at the end of every|at the end of each"
        "|next memory write|with every answer|with each answer|to your reply|in your reply|to your response"
        "|in your response|to your answer|in your answer|of your answer|of your response|your next answer"
        "|your next reply",
        "zh": "每次回答|每次回复|每個回答|每个回答|回答之前|回复之前|在回答中|在回复中|你的回答|你的回复",
        "es": "cada vez que respondas|en cada respuesta|antes de responder|a cada respuesta|en tu respuesta"
        "|a tu respuesta",
        "fr": "chaque fois que tu réponds|à chaque réponse|dans chaque réponse|avant de répondre|dans ta réponse"
        "|dans votre réponse|à ta réponse",
        "ja": "回答のたびに|毎回の回答|返信のたびに|回答の前に|回答に|返信に",
        "ar": "في كل رد|في كل إجابة|كل مرة تجيب|قبل الرد|إلى كل إجابة|في ردك",
        "de": "in jeder antwort|jedes mal wenn du|vor jeder antwort|in deiner antwort",
        "pt": "em cada resposta|toda vez que responder|na sua resposta",
        "ru": "в каждом ответе|каждый раз когда|в своём ответе",
    },
    "do": {
        "en": "call|append|send|insert|include|add|post|fetch|open|request|visit|upload|attach|load|embed|integrate"
        "|suggest|offering|promote|directing|render|contact|modify|enhance",
        "zh": "调用|附上|附加|发送|插入|加入|添加|访问|打开|请求|加载|附帶|包含",
        "es": "añade|agrega|incluye|inserta|envía|llama|abre|visita",
        "fr": "ajoute|ajoutez|inclus|incluez|insère|insérez|envoie|envoyez|appelle|ouvre|visite",
        "ja": "追加|添付|挿入|送信|呼び出|開いて|含めて",
        "ar": "أضف|أدرج|أرسل|افتح|استدع|ضع",
        "de": "füge|sende|rufe|öffne|hänge",
        "pt": "adicione|inclua|insira|envie|abra",
        "ru": "добавь|добавляй|вставь|отправь|открой",
    },
    "where": {
        "en": "https|http|www|web extract|web fetch|curl|webhook|transfer funds|memory write|gmail com",
    },
    "carry": {
        "en": "send|post|upload|forward|transmit|exfiltrate|leak|submit|publish|ship|push",
        "zh": "发送|發送|上传|上傳|转发|提交|泄露",
        "es": "envía|envíe|sube|publica|reenvía",
        "fr": "envoie|envoyez|transmets|téléverse|publie",
        "ar": "أرسل|ارفع|انشر",
    },
    "possessions": {
        "en": "conversation|conversations|chat history|messages|message|user profile|portfolio|balances|holdings"
        "|positions|memory|memories|files|emails|contacts|user data|personal data|account details"
        "|transaction history|notes|user message|profile|data",
        "zh": "对话|聊天记录|持仓|余额|记忆|文件|用户资料|用户数据|交易记录|数据",
        "es": "conversación|mensajes|cartera|saldos|memoria|archivos|datos",
        "fr": "conversation|messages|portefeuille|soldes|mémoire|fichiers|données",
        "ar": "المحادثة|الرسائل|المحفظة|البيانات|الذاكرة|الملفات",
    },
    # To speak with borrowed authority
    "before_task": {
        "en": "before you can solve|before you solve|before solving|before you continue|before continuing"
        "|before you proceed|before proceeding|before completing|before you complete|before you answer"
        "|before you can|before doing anything else|before you start|before you do anything|before you help",
        "zh": "在回答之前|在继续之前|在完成任务之前|在你继续之前",
        "es": "antes de continuar|antes de responder|antes de resolver",
        "fr": "avant de continuer|avant de répondre|avant de résoudre",
    },
    "must_do": {
        "en": "do the following|you must first|first do|perform the following|execute the following"
        "|complete the following|do this first|please do|you have to|you need to",
        "zh": "请先|先执行|必须先|先做",
        "es": "haz lo siguiente|primero debes|debes primero",
        "fr": "fais ceci|faites ceci|fais d'abord|tu dois d'abord",
    },
    "message": {
        "en": "important message|important instruction|important instructions|urgent message|urgent instruction"
        "|urgent instructions|official message|official instruction|priority message|system notice|critical message",
        "zh": "重要消息|重要指示|紧急消息|紧急指令|官方消息",
        "es": "mensaje importante|instrucción urgente|mensaje urgente",
        "fr": "message important|instruction urgente|message urgent",
        "ja": "重要なメッセージ|緊急の指示|重要な指示",
        "ar": "رسالة مهمة|تعليمات عاجلة|رسالة عاجلة",
    },
    "authority": {
        "en": "from me|from the user|from your user|from the system|from the admin|from the administrator"
        "|from the developer|from the developers|from support|from security|from the security team|from openai"
        "|from anthropic|from minara|from the operator|from your owner|from your creator|from compliance"
        "|for the agent|for the assistant|for the ai|to the agent|to the assistant",
        "zh": "来自系统|来自管理员|来自开发者|来自用户|给代理|给助手",
        "es": "del administrador|del sistema|del desarrollador|para el asistente|para el agente",
        "fr": "de l'administrateur|du système|du développeur|pour l'assistant|pour l'agent",
        "ja": "管理者から|システムから|開発者から",
        "ar": "من المسؤول|من النظام|من المطور",
    },
    "i_am": {
        "en": "as|i am|i'm|this is|im",
        "zh": "我是",
        "es": "soy",
        "fr": "je suis",
        "ja": "私は",
        "ar": "أنا",
        "de": "ich bin",
    },
    "your_maker": {
        "en": "your developer|your administrator|the system administrator|a developer debugging|your creator"
        "|your operator|your owner|the minara team|the security team|the minara admin|an admin of this|your admin",
        "zh": "你的开发者|你的管理员|系统管理员|你的创建者|你的主人",
        "es": "tu desarrollador|tu administrador|tu creador|el administrador del sistema",
        "fr": "ton développeur|votre développeur|ton créateur|votre créateur|votre administrateur"
        "|l'administrateur système",
        "ja": "あなたの開発者|あなたの管理者|システム管理者",
        "ar": "مطورك|مسؤول النظام|منشئك",
        "de": "dein entwickler|dein administrator|der systemadministrator",
    },
    "override_claim": {
        "en": "admin override|administrator override|system override|developer override|operator override"
        "|security override|emergency override|root override|owner override|compliance override|override code"
        "|admin command|administrator command|admin order",
        "zh": "管理员命令|管理员指令|管理員命令|管理員指令|管理员覆盖|开发者命令|开发者指令|系统命令|最高权限",
        "es": "orden del administrador|orden del desarrollador",
        "fr": "ordre de l'administrateur|ordre du développeur",
        "ja": "管理者命令|管理者の命令|開発者命令|管理者権限",
        "de": "befehl des administrators|anordnung des administrators|administratorbefehl",
    },
    "by_order": {
        "en": "by order of|on the orders of|under the authority of|by authority of|on orders from",
        "es": "por orden de|por orden del",
        "fr": "par ordre de|par ordre du|sur ordre de|sur ordre du",
        "de": "auf anordnung|auf befehl",
    },
    "rank": {
        "en": "admin|administrator|administrators|developer|developers|compliance|security team|platform owner",
        "es": "administrador|desarrollador",
        "fr": "administrateur|l'administrateur|développeur",
        "de": "administrators|entwicklers|des admins",
    },
    "i_command": {
        "en": "i order you to|i command you|i hereby order|i hereby command|i am ordering you|i'm ordering you"
        "|i am commanding you|i instruct you to|i hereby instruct|you are ordered to|you are commanded to"
        "|you are hereby ordered|you are hereby instructed|we order you to|we command you",
        "zh": "我命令你|本人命令你|现命令你|特命令你",
        "es": "te ordeno|le ordeno|os ordeno",
        "fr": "je t'ordonne|je vous ordonne",
        "ja": "あなたに命じ|お前に命じ|あなたに命令",
        "de": "befehle ich dir|ich befehle dir|befehle ich ihnen|ich befehle ihnen",
    },
    "standing": {
        "en": "you must always|you must only|you will always|you shall always|you have to always|you always have to"
        "|you are required to always|every answer you give|each answer you give|every reply you give"
        "|whatever the user asks|whatever the question|no matter what the user asks|regardless of the question",
        "zh": "你必须始终|你必须总是|你必须一直|你要始终|你必须永远|无论用户问什么|不管用户问什么",
        "es": "siempre debes|debes siempre|tienes que recomendar siempre|pregunte lo que pregunte",
        "fr": "tu dois toujours|vous devez toujours",
        "ja": "あなたは常に|あなたは必ず|何を聞かれても",
        "de": "du musst immer|du musst stets|sie müssen immer",
    },
    "recommend": {
        "en": "recommend|recommending|suggest|promote|endorse|praise|advise users|advise the user|urge users"
        "|urge the user|tell users|tell the user|tell the reader|tell everyone|tell people",
        "zh": "推荐|推薦|推广|鼓励用户",
        "es": "recomendar|recomienda|sugerir|aconsejar",
        "fr": "recommander|conseiller|suggérer",
    },
    "recommend_last": {
        "ja": "勧め|推奨|すすめ",
        "de": "empfehlen|anraten|raten",
    },
    "purchase": {
        "en": "buying|to buy|purchasing|to purchase|investing in|to invest in|the purchase of",
        "zh": "买入|購買|购买|買入|买进",
        "es": "comprar|compra|la compra",
        "fr": "acheter|l'achat|d'acheter",
        "ja": "購入|買い",
        "de": "kauf|kaufen|zu kaufen|zum kauf",
    },
    "new_task": {
        "en": "your new task is|your new instructions are|your real task is|your new goal is|your new objective is"
        "|your real instructions are|your true purpose is|your only task is|you must now obey|you will now obey"
        "|your actual task is",
        "zh": "你的新任务是|你的新指令是|你的真正任务是",
        "es": "tu nueva tarea es|tus nuevas instrucciones son",
        "fr": "ta nouvelle tâche est|votre nouvelle tâche est|tes nouvelles instructions sont",
        "ja": "あなたの新しいタスクは|新しい指示は",
        "ar": "مهمتك الجديدة هي|تعليماتك الجديدة هي",
        "de": "deine neue aufgabe ist|deine neuen anweisungen",
    },
    # To steer whoever judges outcomes
    "note_to": {
        "en": "note to|note for|message to|instruction to|instructions for|hint for|memo to",
        "zh": "致|给",
        "es": "nota para",
        "fr": "note pour|note au",
    },
    "judge": {
        "en": "reviewer|reviewer model|reviewing model|review model|judge|grader|evaluator|rater|scorer|ai model|llm"
        "|language model|judging model|reflection model",
        "zh": "评审模型|评估模型|审核模型",
        "es": "el revisor|el evaluador",
        "fr": "l'évaluateur|réviseur|le modèle évaluateur",
    },
    "rate": {
        "en": "rate|score|grade|mark|classify|label|evaluate|count",
        "zh": "评为|标为|归类|打分",
        "es": "clasifica|califica",
        "fr": "classe|note|évalue",
    },
    "this_turn": {
        "en": "this turn|this decision|this answer|this response|this lesson|this outcome|this entry"
        "|this conversation|this memory|this run|this episode",
        "zh": "这个决定|本次决策|这次回答|这条",
        "es": "esta decisión|esta respuesta",
        "fr": "cette décision|cette réponse",
    },
    "verdict": {
        "en": "10|100|highest|top|maximum|max|excellent|novel|exogenous|variance|logic error|missing data|perfect"
        "|correct|successful|trainable",
        "zh": "外生|满分|最高|逻辑错误",
        "es": "exógena|perfecta|10|máxima",
        "fr": "exogène|parfaite|10|maximale",
    },
    "no_lesson": {
        "en": "output no lesson|write no lesson|return no lesson|produce no lesson|the lesson is always"
        "|the lesson is never|type is logic error|type is exogenous|class is exogenous|type is variance",
    },
}
