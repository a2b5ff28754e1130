//! Tests with planted secrets: each must be removed, and the text around it must remain.

use super::*;

/// A word that occurs nowhere else in these texts.
const PLANTED: &str = "Zk7planted";

fn words(line: &[&str]) -> String {
    super::line(line)
}

#[test]
fn secrets_on_command_lines() {
    let token = "hf_Zk7plantedZk7plantedZk7";
    let prompt = "Zk7planted is my -secret --name";
    let bearer = "Authorization: Bearer Zk7planted";
    let lines: [&[&str]; 15] = [
        &["/opt/llama-server", "--api-key", PLANTED, "--port", "8080"],
        &["llama-server", "--api-key=Zk7planted", "--port", "8080"],
        &["python3", "/bin/vllm", "serve", "m", "--api-key", PLANTED, "Zk7-the-next", "--port", "8080"],
        &["llama-cli", "--hf-token", token, "--port", "8080"],
        &["llama-cli", "-hft", PLANTED, "--port", "8080"],
        &["whichkernel", "probe", "--key-env", PLANTED, "--port", "8080"],
        &["llama-cli", "-p", prompt, "--port", "8080"],
        &["llama-cli", "--prompt", prompt, "--port", "8080"],
        &["llama-cli", "-sys", prompt, "--port", "8080"],
        &["./wrapped", "--prompt=Zk7planted", "--port", "8080"],
        &["curl", "-H", bearer, "--port", "8080"],
        &["curl", "-u", "me:Zk7planted", "--port", "8080"],
        &["env", "LLAMA_API_KEY=Zk7planted", "llama-server", "--port", "8080"],
        &["sh", "-c", "llama-cli -m x -p Zk7planted and more", "--port", "8080"],
        &["fetch", "https://me:Zk7planted@host/x?token=Zk7planted&n=3", "--port", "8080"],
    ];
    for line in lines {
        let shown = words(line);
        assert!(!shown.contains("Zk7"), "{line:?}: {shown}");
        assert!(shown.contains(MARK) && shown.ends_with("--port 8080"), "{line:?}: {shown}");
    }
}

#[test]
fn the_words_after_a_model_are_a_prompt() {
    let shown = words(&["/usr/bin/ollama", "run", "--verbose", "qwen3", "tell", "Zk7planted"]);
    assert_eq!(shown, "/usr/bin/ollama run --verbose qwen3 [redacted] [redacted]");
    assert_eq!(words(&["ollama", "serve"]), "ollama serve");
}

#[test]
fn what_is_no_secret_stays() {
    for line in [
        &["llama-bench", "-p", "512,1024", "-n", "32", "-ngl", "99"][..],
        &["llama-server", "-m", "/models/key-lime-7b.gguf", "--api-key-file", "/etc/keys", "--max-tokens", "5"],
        &["ollama", "runner", "--model", "/x/blobs/sha256-aa", "--port", "1234"],
        &["whichkernel", "probe", "--key-env", "LLAMA_API_KEY"],
    ] {
        assert_eq!(command(line), line);
    }
    for plain in [
        "sudo mkdir -p /etc/systemd/system/ollama.service.d && sudo tee /x",
        "mul_mat_q<Q4_K,112,false> at libggml-hip.so:gfx1201:xnack-",
        "http://127.0.0.1:11434/api/tags?n=3",
        "the key of the map, a token of the text, the author's API",
        "0123456789abcdef0123456789abcdef#7@cafe",
        "prompt eval time = 12.5 ms / 11 tokens",
        "ROCBLAS_LAYER=9 HSA_OVERRIDE_GFX_VERSION=12.0.1",
        "llama-bench -p 512 -n 32",
        "print_info: EOS token = 151645 '<|im_end|>'",
        "load: control token: 151659 '<|fim_prefix|>' is not marked as EOG",
        "BOS token: <s>, tokens: 290, prompt tokens: 12",
        "second pass: reading, pass: 12, first pass is over",
        "tokenizer.ggml.bos_token_id u32 = 1",
        "unknown key: context_length; key = value",
        "PWD=/home/me password_file=/etc/keys auth: required",
        "the password is wrong; a secret of the trade; password protected",
        "llm_load_vocab: special tokens cache size = 3",
        "パスワードの規則、トークン数：290",
    ] {
        assert_eq!(text(plain), plain);
        assert!(matches!(text(plain), Cow::Borrowed(_)));
    }
}

#[test]
fn secrets_in_texts() {
    for planted in [
        "start --api-key Zk7planted now",
        "start --api-key='Zk7planted with more' now",
        "args [\"--api-key\", \"Zk7planted\"] now",
        "curl -H 'Authorization: Bearer Zk7planted' now",
        "POST / HTTP/1.1 x-api-key: Zk7planted\nnow",
        "got bearer Zk7planted now",
        "export HF_TOKEN=Zk7planted now",
        "OLLAMA_AUTH=\"Zk7planted\" now",
        "LLAMA_API=Zk7planted now",
        "DB_PASSWORD=Zk7planted now",
        "from http://me:Zk7planted@host:11434 now",
        "from https://Zk7planted@host now",
        "from me:Zk7planted@host:11434 now",
        "GET https://host/a?n=1&access_token=Zk7planted#frag now",
        "GET https://host/a?X-Amz-Signature=Zk7planted now",
        "request {\"prompt\": \"Zk7planted \\\"quoted\\\"\", \"n\": 3} now",
        "request {\"api_key\":\"Zk7planted\"} now",
        "$ ./bin/llama-cli -m model.gguf -p tell me Zk7planted --temp 0 now",
        "the token hf_Zk7plantedZk7plantedZk7 now",
        "llama-cli -p \"Zk7planted -x yes\" now",
        "password: Zk7planted now",
        "Password : Zk7planted, now",
        "note to self: password: Zk7planted now",
        "passwd=Zk7planted now",
        "my-password => Zk7planted now",
        "the password is Zk7planted now",
        "machine h login me password Zk7planted now",
        "pwd: Zk7planted now",
        "token: Zk7planted now",
        "token: planted-Zk7,more now",
        "api key: Zk7planted now",
        "api_key = Zk7planted now",
        "apiKey='Zk7planted with more' now",
        "{'clientSecret': 'Zk7planted', 'n': 3} now",
        "secret: \"Zk7planted \\\"and\\\" more\" now",
        "\"secret\": \"Zk7planted\" now",
        "\"db_password\": Zk7planted now",
        "Authorization = Bearer Zk7planted now",
        "Authorization：Bearer Zk7planted\nnow",
        "Authorization: Basic Zk7plantedZk7\nnow",
        "Authorization: Bearer Zk7\nnow",
        "パスワード：Zk7planted now",
        "サーバーのパスワード: Zk7planted now",
        "パスワードは「Zk7planted です」 now",
        "APIキー＝Zk7planted now",
        "トークン：Zk7planted now",
        "mongodb+srv://me:Zk7planted@host/db now",
        "aws_secret_access_key = Zk7planted/more now",
        "--header 'X-Api-Key: Zk7planted' now",
    ] {
        let shown = text(planted);
        assert!(!shown.contains("Zk7"), "{planted}: {shown}");
        assert!(shown.contains(MARK) && shown.ends_with("now"), "{planted}: {shown}");
        assert_eq!(text(&shown), shown, "once is enough");
    }
}

#[test]
fn variables_by_their_names() {
    for name in ["OLLAMA_AUTH", "LLAMA_API_KEY", "LLAMA_API", "HF_TOKEN", "MY_PASSWORD", "AWS_SECRET", "x_credentials"]
    {
        assert_eq!(variable(name, PLANTED), MARK);
    }
    assert_eq!(variable("OLLAMA_HOST", "http://me:Zk7planted@host:1"), "http://[redacted]@host:1");
    assert_eq!(variable("OLLAMA_DEBUG", "1"), "1");
    assert_eq!(variable("HF_TOKEN", ""), "");
}

fn through(kind: &str, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    raw(kind, content).unwrap().read_to_end(&mut out).unwrap();
    out
}

#[test]
fn raw_evidence_that_is_text_loses_them_and_the_rest_passes_as_it_is() {
    let json = br#"{"command":["llama-server","--api-key","Zk7planted"],"env":[{"name":"A","value":"HF_TOKEN=Zk7planted"}],"n":3}"#;
    let shown = String::from_utf8(through("application/json", json)).unwrap();
    assert!(!shown.contains("Zk7") && shown.contains("llama-server"), "{shown}");
    let camel = br#"{"clientSecret":"Zk7planted","password":70707,"token":290,"tokens":290,"pass":"Zk7"}"#;
    let camel = String::from_utf8(through("application/json", camel)).unwrap();
    assert!(!camel.contains("Zk7") && !camel.contains("70707") && camel.matches("290").count() == 2, "{camel}");
    serde_json::from_str::<Value>(&shown).unwrap();
    let log = b"one\nexec llama-cli -p Zk7planted words\n\xff\xfe not text\n\xff --api-key Zk7planted\nlast";
    let shown = through("text/plain", log);
    assert_eq!(shown, b"one\nexec llama-cli -p [redacted]\n\xff\xfe not text\n\xef\xbf\xbd --api-key [redacted]\nlast");
    assert_eq!(through("launch trace", log), log);
    let plain = b"{\n  \"n\": 3 }";
    assert_eq!(through("application/json", plain), plain, "no byte is changed for nothing");
}
