//! What is taken for a secret: one row a rule.
//!
//! A row holds a name, the literals that announce it, the expression that must then match *from the literal on*,
//! which of its groups is the secret, what may stand before, what the secret must look like besides, and an
//! example of each kind. The expressions see a text with its escapes undone (a newline is a newline, `\/` is `/`),
//! as ASCII bytes.
//!
//! Where several rules fit, the first row gives the name: the particular before the general. A literal is at
//! least three bytes long, none starts another, and none stands in the name of a rule, so that a mark announces
//! nothing.

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// What the mark says: lower-case words with hyphens.
    pub(super) name: &'static str,
    /// The literals one of which it starts with.
    pub(super) keywords: &'static [&'static str],
    /// What must stand from the literal on.
    pub(super) regex: &'static str,
    /// The group that is replaced.
    pub(super) secret: usize,
    /// What must stand before the literal.
    pub(super) before: Before,
    /// What the secret must look like besides.
    pub(super) gate: Gate,
    /// How many bytes are looked at from the literal on, unless it matches up to there.
    pub(super) window: usize,
    /// What it finds, in part or whole.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the tests of the table"))]
    pub(super) yes: &'static str,
    /// What it does not.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the tests of the table"))]
    pub(super) no: &'static str,
}

/// What must stand before a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Anything.
    Any,
    /// No letter, digit or underscore: the literal starts a word.
    Edge,
    /// Nor a hyphen: for what may go on with one for long.
    WideEdge,
    /// A digit.
    Digit,
    /// A letter or digit.
    Word,
}

/// What a secret must look like besides matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// Not the same few characters over and over, as in `ghp_xxxxxxxx`.
    Varied,
    /// A digit and a letter, and varied.
    Mixed,
    /// What stands behind `Authorization`.
    Authorization,
    /// A cookie's values.
    Cookie,
    /// The password of an address.
    Address,
    /// What is assigned to a name that says it is secret; the group is where it starts.
    Assigned,
    /// A private key: it reaches to its end line, or to where its base64 ends.
    Pem,
}

const fn key(
    name: &'static str,
    keywords: &'static [&'static str],
    regex: &'static str,
    yes: &'static str,
    no: &'static str,
) -> Rule {
    Rule { name, keywords, regex, secret: 0, before: Before::Edge, gate: Gate::Varied, window: 320, yes, no }
}

/// The rules, the particular ones first. The examples are in two pieces so that no scanner takes them for real.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // Models.
    key("anthropic-key", &["sk-"], r"sk-ant-[a-z0-9]{2,12}-[\w-]{20,}",
        concat!("sk-", "ant-api03-Zx9_q2Lm7Vt4Kp1Wd8Rb5Ny3Hc6Jf0Gs-uEoAiTzQ"), "let prefix = \"sk-ant-\"; // sk-ant-api03-..."),
    key("openrouter-key", &["sk-"], r"sk-or-(?:v\d-)?[\w-]{32,}",
        concat!("sk-", "or-v1-3f9a1c5e7b2d4068a9c1e3f5b7d90246813579bdf02468ace13579bdf0246a9c"), "sk-or-v1-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    key("langfuse-key", &["sk-"], r"sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}",
        concat!("sk-", "lf-3c59dc04-8d2e-4f61-9a7b-1e0f5d6c2b48"), "pk-lf-3c59dc04-8d2e-4f61-9a7b-1e0f5d6c2b48"),
    key("openai-key", &["sk-"], r"sk-(?:proj|svcacct|admin|service|None)-[\w-]{20,}",
        concat!("sk-", "proj-4Kd8_hT2mQ9vLx7RbN3wZc6YpJ1sGf5UaEo0iT3BlbkFJq8Wn"), "disk-proj-4Kd8hT2mQ9vLx7RbN3wZc6YpJ1s"),
    key("llm-key", &["sk-"], r"sk-(?:[a-z]{2,8}\d{0,2}-)?[A-Za-z0-9_]{20,}",
        concat!("sk-", "9f3b6c1d8e2a4705b9c3d1e5f7a80264"), ".sk-circle .sk-circle-fade-animation-long").mixed(),
    key("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}",
        concat!("gsk", "_8Hq2Vn5Xc9Lb3Mz7Kd1Wp4RtWGdyb3FYs6Gf0Ja8Ue2Io5Ty"), "gsk_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    key("grok-key", &["xai-"], r"xai-[A-Za-z0-9]{40,}",
        concat!("xai", "-5Tg8Yh2Uj6Ik9Ol3Pz7Xc1Vb4Nm0Qw5Er8Ty2Ui6Op9As3Df7Gh1Jk4Lz0Xc5Vb"), "xai-grok-4-fast-reasoning"),
    key("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{32,}",
        concat!("pplx", "-2d7f9b4c6e8a0135792468ace0bdf13579c2e4a6b8d0f1e3"), "pplx-70b-online"),
    key("replicate-key", &["r8_"], r"r8_[A-Za-z0-9]{32,}",
        concat!("r8", "_Kx4Lm9Np2Qr7St1Uv6Wx3Yz8Ab5Cd0Ef4Gh9I"), "for8_bits_are_enough_in_r8_unorm"),
    key("huggingface-key", &["hf_"], r"hf_[A-Za-z0-9]{30,}",
        concat!("hf", "_LpQzWxEcRvTbYnUmIkOlPaSdFgHjKlZxCv"), "hf_hub_download(repo_id=hf_repo)"),
    key("nvidia-key", &["nvapi-"], r"nvapi-[\w-]{40,}",
        concat!("nvapi", "-Q8w2E6r4T0y9U5i1O7p3A-sDfGhJkLzXcVbNm_1234567890qwertyuiop"), "nvapi-key-here"),
    key("cerebras-key", &["csk-"], r"csk-[a-z0-9]{40,}",
        concat!("csk", "-w8n4k2m6p9r3t5v7x1y8c2d4f6h9j3k5n7p2r8t4"), "csk-something"),
    key("tavily-key", &["tvly-"], r"tvly-[A-Za-z0-9-]{20,}",
        concat!("tvly", "-dev-7Hs2Kd9Lq4Wm1Xv6Zb3Nc8Rt5Yp0Fg"), "tvly-YOUR_API_KEY").mixed(),
    key("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        concat!("lsv2", "_pt_4e8a1c6f9b2d4730a5c7e9f1b3d50826_9f1c3e5a7b"), "lsv2_pt_"),
    key("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}",
        concat!("fw", "_3ZkT8mQ2vX7bN4cR9pW1yD6h"), "fw_update_manager_for_this_device").mixed(),
    key("jina-key", &["jina_"], r"jina_[\w-]{40,}",
        concat!("jina", "_6c2e8f4a0b7d4d19a3e5c7f1b9d20468Qw9Er7Ty5Ui3Op1As2Df"), "jina_embeddings_v3"),
    key("e2b-key", &["e2b_"], r"e2b_[0-9a-f]{40}",
        concat!("e2b", "_1f7c3a9e5b2d8046f1c3a5e7b9d20468ace13579"), "e2b_sandbox"),
    key("runpod-key", &["rpa_"], r"rpa_[A-Z0-9]{40,}",
        concat!("rpa", "_7QK2M9XZ4WV1B8N6C3R5T0Y7U2I9O4P1A6S8D3F5"), "rpa_worker_main"),

    // Clouds.
    key("google-key", &["AIza"], r"AIza[\w-]{35}",
        concat!("AIza", "SyB7k2_Qx9Lm4Vn1Tp8Wd5Rc3Hj6Gf0Za-u"), "AIzaSy..."),
    key("google-studio-key", &["AQ."], r"AQ\.[\w-]{40,}",
        concat!("AQ", ".Ab8RN6Kq3Wz7Lm1Xv5Tp9Yd2Hc4Jf6Gs8Bn0Ra-UeOi"), "see FAQ.html, AQ.1 and AQ.2"),
    key("google-client-key", &["GOCSPX-"], r"GOCSPX-[\w-]{28}",
        concat!("GOCSPX", "-k3Lm9Qx2Vt7Wp4Zd8Rb1Nc6Hj5Yf"), "GOCSPX-"),
    key("google-access-key", &["ya29."], r"ya29\.[\w-]{30,}",
        concat!("ya29", ".a0AfB_byD8kQ2xV7mL4tW9pZ1cR6nH3jG5fS0uE"), "ya29.…"),
    Rule { window: 256, ..key("aws-key", &["ecret", "ECRET"],
        r#"(?i)ecret_?access_?key["'`\]]{0,3}\s{0,4}(?:=>|:=|[=:,])?\s{0,4}["'`]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        concat!("aws_secret_access_key = ", "wJ4lrXUtn3FEMI9K7MDENG2bPxRfiCYzq8Lk5Vt0"), "aws_secret_access_key = var.secret") }.first_group(),
    key("aws-key-id", &["AKIA", "ASIA"], r"A[KS]IA[A-Z0-9]{16}\b",
        concat!("AKIA", "3QXV7MZK2WPT9RJL"), "AKIA_NOT_A_KEY ASIATICUS"),
    key("aws-bedrock-key", &["ABSK"], r"ABSK[A-Za-z0-9+/]{80,}={0,2}",
        concat!("ABSK", "QmVkcm9ja0FQSUtleS0xYjJjM2Q0ZTVmNmc3aDhpOWowazFsMm0zbjRvNXA2cTdyOHM5dDB1MXYydzN4NHk1ejY="), "ABSK"),
    key("azure-storage-key", &["ccountKey"], r"ccountKey=([A-Za-z0-9+/]{60,}={0,2})",
        concat!("AccountName=dev;AccountKey=", "k7Qm2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs/uEoAiTq+K7m2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1Mw=="),
        "AccountKey=<key>;EndpointSuffix=core.windows.net").first_group(),
    key("azure-bus-key", &["ccessKey"], r"ccessKey=([A-Za-z0-9+/]{40,}={0,2})",
        concat!("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKey=", "Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn="),
        "SharedAccessKey={key}").first_group(),
    key("azure-signature", &["sig="], r"sig=([A-Za-z0-9%+/_-]{40,}={0,2})",
        concat!("https://x.blob.core.windows.net/c?sv=2024-01-01&sp=r&sig=", "q3Lm9%2BQx2Vt7Wp4Zd8Rb1Nc6Hj5Yf0Ka%2Fs8Ue4Io1%3D"),
        "?sig=short").group(1),
    key("digitalocean-key", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_[0-9a-f]{60,}",
        concat!("dop", "_v1_3f9a1c5e7b2d4068a9c1e3f5b7d90246813579bdf02468ace13579bdf0246a9c"), "dop_v1_..."),
    key("flyio-key", &["fo1_", "fm2_"], r"f(?:o1|m2)_[\w+/=,-]{40,}",
        concat!("fo1", "_Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4"), "fo1_x"),
    key("heroku-key", &["HRKU-"], r"HRKU-[\w-]{36,}",
        concat!("HRKU", "-AAz8Kd3_mQ2vLx7RbN3wZc6YpJ1sGf5UaEo0iTq8Wn4Xc9Lb3Mz7Kd1Wp4Rt"), "HRKU-"),
    key("pulumi-key", &["pul-"], r"pul-[0-9a-f]{40}",
        concat!("pul", "-9e3c7a1f5b2d8046e9c1a3f5b7d20468ace13579"), "pul-up"),
    key("terraform-key", &[".atlasv1."], r"\.atlasv1\.([\w=-]{60,})",
        concat!("k7Qm2Xz9Lb4Wn1", ".atlasv1.", "Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1Qe5Ty8Ui3Op6As0DfGh2Jk"), ".atlasv1.").first_group(),
    key("vault-key", &["hvs.", "hvb."], r"hv[sb]\.[\w-]{24,}",
        concat!("hvs", ".CAESIJ8kQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKbGh"), "hvs.is_valid()"),
    key("doppler-key", &["dp.pt.", "dp.st."], r"dp\.(?:pt|st)\.[\w.-]{40,}",
        concat!("dp.pt", ".Rp5Yc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1Vt8"), "dp.st.x"),
    key("supabase-key", &["sbp_", "sb_s"], r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})",
        concat!("sbp", "_6e2a8c4f0b7d1359e6a2c8f4b0d79135ace02468"), "sb_secret_"),
    key("planetscale-key", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}",
        concat!("pscale", "_tkn_Yc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1V"), "pscale_pw_"),
    key("netlify-key", &["nfp_"], r"nfp_[A-Za-z0-9]{36,}",
        concat!("nfp", "_Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1Vt8Rp"), "nfp_"),
    key("tailscale-key", &["tskey-"], r"tskey-[a-z]{2,10}-[\w-]{16,}",
        concat!("tskey", "-auth-kQ2xV7mL4tW9CNTRL-pZ1cR6nH3jG5fS0uEoAiTqKb"), "tskey-auth-"),
    key("databricks-key", &["dapi"], r"dapi[0-9a-f]{32}(?:-\d)?\b",
        concat!("dapi", "4f8b2d6e0a9c1357f8b2d6e0a9c13579"), "dapifoo dapi.example").mixed(),

    // Code and packages.
    key("github-key", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9_]{36,}(?:[\w-]*\.[\w-]{20,}\.[\w-]{20,})?",
        concat!("ghp", "_9Xk2Lm7Qv4Wz1Tp8Rb5Nc3Hd6Jf0Gs2Ue4Ao"), "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    key("github-fine-key", &["github_pat_"], r"github_pat_\w{36,}",
        concat!("github", "_pat_11ABCDE7Q0Vx4Kd8hT2mQ9_LbN3wZc6YpJ1sGf5UaEo0iTq8Wn4Xc9Lb3Mz7Kd1Wp4RtYu6"), "github_pat_token"),
    key("gitlab-key", &["glpat-", "gldt-", "glrt-"],
        r"gl(?:pat|dt|rt)-[\w-]{20,}(?:\.[\w-]{2,}){0,3}",
        concat!("glpat", "-Kd8hT2mQ9vLx7RbN3wZc"), "glpat-xxxxxxxxxxxxxxxxxxxx"),
    key("npm-key", &["npm_"], r"npm_[A-Za-z0-9]{36}\b",
        concat!("npm", "_T8mQ2vX7bN4cR9pW1yD6hK3zL5sG0fJ8uE2a"), "npm_config_registry npm_lifecycle_script"),
    key("pypi-upload-key", &["pypi-AgE"], r"pypi-AgE[\w-]{50,}",
        concat!("pypi", "-AgEIcHlwaS5vcmcCJDk0YzJhN2U4LTFmM2ItNGQ2NS04YTBlLWM3YjlkMmU0ZjYxMw"), "pypi-AgEIcHlwaS5vcmc"),
    key("crates-io-key", &["cio"], r"cio[A-Za-z0-9]{32}\b",
        concat!("cio", "Rb5Nc3Hd6Jf0Gs2Ue4AoZ9Xk2Lm7Qv4W"), "precious cioppino ciol").mixed(),
    key("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{48}",
        concat!("rubygems", "_7b1e9d3c5a2f4860b7d9e1c3a5f802467b1e9d3c5a2f4860"), "rubygems_version"),
    key("docker-key", &["dckr_"], r"dckr_(?:pat|oat)_[\w-]{20,}",
        concat!("dckr", "_pat_uEoAiTq4Bz1MwK7m2Xz9Lb4Wn1V"), "dckr_pat_"),
    key("circleci-key", &["CCIPAT_"], r"CCIPAT_[A-Za-z0-9]{20,}_[0-9a-f]{40}",
        concat!("CCIPAT", "_Gs2uEoAiTq4Bz1MwK7m2Xz_9e3c7a1f5b2d8046e9c1a3f5b7d20468ace13579"), "CCIPAT_"),
    key("buildkite-key", &["bkua_"], r"bkua_[0-9a-f]{40}",
        concat!("bkua", "_9e3c7a1f5b2d8046e9c1a3f5b7d20468ace13579"), "bkua_"),
    key("artifactory-key", &["AKCp"], r"AKCp[A-Za-z0-9]{60,}",
        concat!("AKCp", "8kQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7m2X"), "AKCp"),
    key("sourcegraph-key", &["sgp_"], r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
        concat!("sgp", "_9e3c7a1f5b2d8046_e9c1a3f5b7d20468ace135799e3c7a1f5b2d8046"), "sgp_local_"),

    // Services.
    key("slack-key", &["xox", "xapp-"], r"(?:xox[abcdeprs](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}",
        concat!("xox", "b-201847365920-3857261940582-kQ2xV7mL4tW9pZ1cR6nH3jG5"), "foxox-trot, xoxo-hugs"),
    key("slack-webhook", &["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,})",
        concat!("https://hooks.slack.com/services/", "T03KQ8ZLM/B05XW2RNV/kQ2xV7mL4tW9pZ1cR6nH3jG5"), "https://hooks.slack.com/services/...").first_group(),
    key("discord-webhook", &["webhooks"], r"webhooks/\d{15,}/([\w-]{40,})",
        concat!("https://discord.com/api/webhooks/", "1184720395618274650/kQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKb-GhYc3Hd6Jf0Gs2uEo"), "/api/webhooks/:id").first_group(),
    Rule { before: Before::Digit, ..key("telegram-key", &[":AA"], r":(AA[\w-]{32,})",
        concat!("7184029563", ":AAGkQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAi"), "12:AAB 00:AA:11:22").group(1) },
    key("stripe-key", &["sk_live_", "sk_test_", "rk_live_"], r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
        concat!("sk", "_live_51KQ2xV7mL4tW9pZ1cR6nH3jG5fS0uEoAi"), "sk_test_xxxxxxxxxxxxxxxxxxxxxxxx"),
    key("stripe-signing-key", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{24,}",
        concat!("whsec", "_Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAi"), "whsec_..."),
    key("sendgrid-key", &["SG."], r"SG\.[\w-]{16,32}\.[\w-]{30,}",
        concat!("SG", ".kQ2xV7mL4tW9pZ1cR6nH3j.G5fS0uEoAiTqKbGhYc3Hd6Jf0Gs2uEoAiTq4Bz1MwK7"), "MSG.length SG.x"),
    key("shopify-key", &["shpat_", "shpss_", "shpca_"], r"shp(?:at|ss|ca)_[0-9a-fA-F]{32}",
        concat!("shpat", "_4f8b2d6e0a9c1357f8b2d6e0a9c13579"), "shpat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    key("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
        concat!("lin", "_api_V7mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3Hd6"), "lin_api_key"),
    key("atlassian-key", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[\w=-]{60,}",
        concat!("ATATT3", "xFfGF0Vx4Kd8hT2mQ9LbN3wZc6YpJ1sGf5UaEo0iTq8Wn4Xc9Lb3Mz7Kd1Wp4RtYu6"), "ATATT3"),
    key("figma-key", &["figd_"], r"figd_[\w-]{36,}",
        concat!("figd", "_mL4tW9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3Hd6Jf0G"), "figd_"),
    key("notion-key", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}",
        concat!("ntn", "_58203947162tW9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3Hd6"), "ntn_"),
    key("grafana-key", &["glsa_", "glc_"], r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
        concat!("glsa", "_W9pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3H_4f8b2d6e"), "glc_"),
    key("newrelic-key", &["NRAK-"], r"NRAK-[A-Z0-9]{27}",
        concat!("NRAK", "-7QK2M9XZ4WV1B8N6C3R5T0Y7U2I"), "NRAK-"),
    key("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
        concat!("PMAK", "-4f8b2d6e0a9c1357f8b2d6e0-a9c135794f8b2d6e0a9c1357f8b2d6e0a9"), "PMAK-"),
    key("sentry-key", &["sntrys_", "sntryu_"], r"sntry[su]_[\w=/+-]{40,}",
        concat!("sntryu", "_9e3c7a1f5b2d8046e9c1a3f5b7d20468ace135799e3c7a1f5b2d8046e9c1a3f5"), "sntrys_"),
    key("posthog-key", &["phx_"], r"phx_\w{40,}",
        concat!("phx", "_pZ1cR6nH3jG5fS0uEoAiTqKbGhYc3Hd6Jf0Gs2uEoAi"), "phx_"),
    key("square-key", &["sq0"], r"sq0(?:csp|atp|idp)-[\w-]{22,}",
        concat!("sq0", "csp-R6nH3jG5fS0uEoAiTqKbGhYc3Hd6Jf0Gs2uEoAiTq4B"), "sq0 sq1"),
    key("service-account-key", &["ops_eyJ"], r"ops_eyJ[\w+/-]{80,}={0,2}",
        concat!("ops_", "eyJzaWduSW5BZGRyZXNzIjoibXkuMXBhc3N3b3JkLmNvbSIsInVzZXJBdXRoIjp7Im1ldGhvZCI6IlNSUGctNDA5NiJ9fQ"), "ops_eyJ"),

    // Keys and signed tokens of any maker.
    key("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}",
        concat!("AGE-SECRET", "-KEY-1QK2M9XZ4WV1B8N6C3R5T0Y7U2L9P4A6S8D3F5G7H2J4K6Z8X0CV5"), "AGE-SECRET-KEY-1..."),
    Rule { gate: Gate::Pem, window: 128, before: Before::Any, ..key("private-key", &["-----BEGIN"],
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----",
        concat!("-----BEGIN OPENSSH PRIVATE", " KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n\
            QyNTUxOQAAACDk7Qm2Xz9Lb4Wn1Vt8Rp5Yc3Hd6Jf0Gs2uEoAiTq4BzA==\n-----END OPENSSH PRIVATE KEY-----"),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----, -----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----") },
    Rule { before: Before::WideEdge, window: 4096, ..key("jwt", &["eyJ"], r"eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){1,3}",
        concat!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", ".eyJzdWIiOiI5MDIxIiwibmFtZSI6ImRldiJ9", ".q3Lm9Qx2Vt7Wp4Zd8Rb1Nc6Hj5Yf0Kas8Ue4Io1Ty2"),
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 eyJ.foo.bar") },

    // What stands where secrets stand.
    Rule { before: Before::Word, gate: Gate::Address, secret: 1, window: 480, ..key("connection-credential", &["://", ":\\/", ":\\\\/"],
        r#"://[^\s:/?#@"'`<>\\,()\[\]|]{0,128}:([^\s/"'`<>\\]{1,256})@[A-Za-z0-9\[_$%{-]"#,
        "postgres://dev:h8Kq-2xV@db.internal:5432/app", "postgres://dev:${DB_PASS}@db/app http://localhost:3000/@vite/client https://a.b/c?d=e:f@g") },
    Rule { before: Before::Any, gate: Gate::Authorization, secret: 2, ..key("auth-header", &["uthorization", "UTHORIZATION"],
        r#"(?i)uthorization["'`\]]{0,3}\s{0,4}[:=,]\s{0,4}["'`]?((?:bearer|basic|token|bot|apikey|api-key|key)[\s:]{1,4})?([A-Za-z0-9._~+/=|-]{8,})"#,
        "curl -H \"Authorization: Bearer 3q8Lm9Qx2Vt7Wp4Zd8Rb\" https://api.example.com", "Authorization: Bearer $TOKEN; headers[\"Authorization\"] = \"Bearer \" + token; authorization: authorization_code") },
    Rule { gate: Gate::Mixed, secret: 1, ..key("bearer", &["earer "], r"earer\s{1,2}([A-Za-z0-9._~+/=-]{20,})",
        "the header was Bearer 7fK2mQ9vLx3RbN8wZc6YpJ1s, it said", "Bearer authentication-is-required-here for the bearer of-this-very-long-letter").any() },
    Rule { gate: Gate::Cookie, secret: 1, ..key("cookie", &["ookie:", "ookie\":", "ookie':", "ookie\\\":"],
        r#"ookie["']{0,2}:\s{0,2}["']?([\w.-]{1,64}=[^\s;"',]{1,}(?:;\s?[\w.-]{1,64}(?:=[^\s;"',]{0,})?){0,30})"#,
        "Set-Cookie: sessionid=8kq2xv7ml4tw9pz1cr6nh3; Path=/", "Cookie: theme=dark; lang=en").any() },
    Rule { before: Before::Any, gate: Gate::Assigned, secret: 3, window: 192, ..key("credential", &[
            "assword", "ASSWORD", "asswd", "ASSWD", "assphrase", "ASSPHRASE", "Pwd=", "pwd=", "ecret", "ECRET", "oken\"", "oken'", "oken=", "oken:", "oken ", "oken\\",
            "OKEN", "pi_key",
            "PI_KEY", "piKey", "PIKey", "pi-key", "PI-K", "pi-K", "pikey", "PIKEY", "ccess_key", "CCESS_KEY", "ccessKey",
            "rivate_key", "RIVATE_KEY", "rivateKey", "ncryption_key", "_KEY=",
        ],
        r#"(?i)((?:assword|asswd|assphrase|pwd|ecret(?:[_-]?(?:access))?(?:[_-]?key(?:[_-]?base)?)?|oken|pi[_-]?key|ccess[_-]?key|rivate[_-]?key|ncryption[_-]?key|_key))["'`]{0,2}\]?(?:\s{0,4}:\s{0,2}&?[A-Za-z]{2,12}\s{0,2}=\s{0,4}|\s{0,4}(?:=>|:=|[:=])\s{0,4}|[ =])(["'`]?)()"#,
        "export APP_SECRET='q3Lm9Qx2Vt7Wp4Zd'", "password = get_password(user1); token: String; api_key=os.environ[\"KEY2\"]; \"max_tokens\": 4096; secret = secret2") },
];

impl Rule {
    /// The same with that group as the secret.
    const fn group(mut self, secret: usize) -> Self {
        self.secret = secret;
        self
    }

    /// The same wherever its literal stands.
    const fn any(mut self) -> Self {
        self.before = Before::Any;
        self
    }

    /// The same wherever its literal stands, with its first group as the secret.
    const fn first_group(self) -> Self {
        self.group(1).any()
    }

    const fn mixed(mut self) -> Self {
        self.gate = Gate::Mixed;
        self
    }
}
