//! Descriptions of the packages for other package managers: AUR, Nix, Homebrew, and with a Windows archive Scoop and winget. All name
//! download addresses and checksums, so they exist only for a release with a repository.

use super::release::{DESCRIPTION, Release};
use super::{Package, sha256, tarball};
use serde_json::json;
use std::fs;
use std::path::Path;

pub fn files(release: &Release, out: &Path) -> anyhow::Result<Vec<Package>> {
    if release.repository.is_empty() {
        println!("no manifests: Cargo.toml has no repository, so no download address is known");
        return Ok(Vec::new());
    }
    let mut made = Vec::new();
    let mut put =
        |name: &str, text: String| made.push(Package { name: format!("manifests/{name}"), bytes: text.into_bytes() });
    let linux = format!("{}.tar.gz", tarball::stem(release));
    if let Ok(bytes) = fs::read(out.join(&linux)) {
        let (url, sum) = (release.address(&linux), sha256(&bytes));
        put("aur/PKGBUILD", aur(release, &url, &sum));
        put("nix/package.nix", nix(release, &url, &sum));
        put("homebrew/whichkernel.rb", homebrew(release, &url, &sum));
    }
    let stem = format!("{}-{}-x86_64-pc-windows-gnu", release.name, release.version);
    let windows = format!("{stem}.zip");
    if let Ok(bytes) = fs::read(out.join(&windows)) {
        let (url, sum) = (release.address(&windows), sha256(&bytes));
        put("scoop/whichkernel.json", scoop(release, &stem, &url, &sum)?);
        for (name, text) in winget(release, &stem, &url, &sum) {
            put(&format!("winget/whichkernel.whichkernel{name}.yaml"), text);
        }
    }
    Ok(made)
}

fn aur(release: &Release, url: &str, sum: &str) -> String {
    let Release { name, version, summary, repository, .. } = release;
    format!(
        r#"# Made by `cargo xtask dist`.
pkgname={name}-bin
pkgver={version}
pkgrel=1
pkgdesc="{summary}"
arch=('x86_64')
url="{repository}"
license=('MIT OR Apache-2.0')
depends=('glibc' 'gcc-libs')
provides=('{name}')
conflicts=('{name}')
source=("{url}")
sha256sums=('{sum}')

package() {{
  cd "{stem}"
  install -Dm755 whichkernel -t "$pkgdir/usr/bin"
  install -Dm644 man/man1/*.1 -t "$pkgdir/usr/share/man/man1"
  install -Dm644 completions/whichkernel.bash "$pkgdir/usr/share/bash-completion/completions/whichkernel"
  install -Dm644 completions/_whichkernel -t "$pkgdir/usr/share/zsh/site-functions"
  install -Dm644 completions/whichkernel.fish -t "$pkgdir/usr/share/fish/vendor_completions.d"
  install -Dm644 LICENSE-* NOTICE THIRD-PARTY.txt sbom.cdx.json -t "$pkgdir/usr/share/licenses/{name}-bin"
}}
"#,
        stem = tarball::stem(release)
    )
}

fn nix(release: &Release, url: &str, sum: &str) -> String {
    let Release { name, version, summary, repository, .. } = release;
    format!(
        r#"# Made by `cargo xtask dist`. Use: pkgs.callPackage ./package.nix {{ }}
{{ lib, stdenv, fetchurl, autoPatchelfHook, installShellFiles }}:
stdenv.mkDerivation {{
  pname = "{name}";
  version = "{version}";
  src = fetchurl {{
    url = "{url}";
    sha256 = "{sum}";
  }};
  nativeBuildInputs = [ autoPatchelfHook installShellFiles ];
  buildInputs = [ stdenv.cc.cc.lib ];
  installPhase = ''
    install -Dm755 whichkernel -t $out/bin
    installManPage man/man1/*.1
    installShellCompletion --bash completions/whichkernel.bash --zsh completions/_whichkernel --fish completions/whichkernel.fish
    install -Dm644 LICENSE-* NOTICE THIRD-PARTY.txt sbom.cdx.json -t $out/share/doc/{name}
  '';
  meta = {{
    description = "{summary}";
    homepage = "{repository}";
    license = with lib.licenses; [ mit asl20 ];
    platforms = [ "x86_64-linux" ];
    mainProgram = "whichkernel";
  }};
}}
"#
    )
}

fn homebrew(release: &Release, url: &str, sum: &str) -> String {
    let Release { version, summary, repository, .. } = release;
    // Homebrew refuses descriptions that end with punctuation.
    let summary = summary.trim_end_matches(['?', '.']);
    format!(
        r##"# Made by `cargo xtask dist`.
class Whichkernel < Formula
  desc "{summary}"
  homepage "{repository}"
  url "{url}"
  version "{version}"
  sha256 "{sum}"
  license any_of: ["MIT", "Apache-2.0"]
  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "whichkernel"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/whichkernel.bash" => "whichkernel"
    zsh_completion.install "completions/_whichkernel"
    fish_completion.install "completions/whichkernel.fish"
    doc.install Dir["LICENSE-*"], "NOTICE", "THIRD-PARTY.txt", "sbom.cdx.json"
  end

  test do
    assert_match "MMQ", shell_output("#{{bin}}/whichkernel explain 9070xt Q4_K_M 290")
  end
end
"##
    )
}

fn scoop(release: &Release, stem: &str, url: &str, sum: &str) -> serde_json::Result<String> {
    let manifest = json!({
        "version": release.version,
        "description": release.summary,
        "homepage": release.repository,
        "license": "MIT|Apache-2.0",
        "architecture": { "64bit": { "url": url, "hash": sum } },
        "extract_dir": stem,
        "bin": "whichkernel.exe",
    });
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// The three files that winget's repository asks for: <https://github.com/microsoft/winget-pkgs/tree/master/doc/manifest>.
fn winget(release: &Release, stem: &str, url: &str, sum: &str) -> [(&'static str, String); 3] {
    let Release { version, summary, repository, .. } = release;
    let file = |kind: &str, body: String| {
        format!(
            "# Made by `cargo xtask dist`.\nPackageIdentifier: whichkernel.whichkernel\nPackageVersion: {version}\n{body}\
             ManifestType: {kind}\nManifestVersion: 1.6.0\n"
        )
    };
    let locale = format!(
        r#"PackageLocale: en-US
Publisher: The whichkernel authors
PackageName: whichkernel
PackageUrl: {repository}
License: MIT OR Apache-2.0
ShortDescription: {summary}
Description: "{DESCRIPTION}"
"#
    );
    let installer = format!(
        r#"InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: {stem}\whichkernel.exe
    PortableCommandAlias: whichkernel
Installers:
  - Architecture: x64
    InstallerUrl: {url}
    InstallerSha256: {sum}
"#
    );
    [
        ("", file("version", "DefaultLocale: en-US\n".to_owned())),
        (".locale.en-US", file("defaultLocale", locale)),
        (".installer", file("installer", installer)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn release(repository: &str) -> Release {
        Release {
            target: super::super::release::TARGET,
            name: "whichkernel".into(),
            version: "1.2.3".into(),
            summary: "Which kernel?".into(),
            licence: "MIT OR Apache-2.0".into(),
            repository: repository.into(),
            commit: "0123456789ab".into(),
            has_changes: false,
            epoch: 1_700_000_000,
            metadata: Value::Null,
        }
    }

    #[test]
    fn each_names_the_address_and_the_sum_of_its_archive() {
        let out = tempfile::tempdir().unwrap();
        let release = release("https://example.com/w");
        let archive = "whichkernel-1.2.3-x86_64-unknown-linux-gnu.tar.gz";
        fs::write(out.path().join(archive), "linux").unwrap();
        let names = |files: &[Package]| files.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
        let linux = files(&release, out.path()).unwrap();
        assert_eq!(
            names(&linux),
            ["manifests/aur/PKGBUILD", "manifests/nix/package.nix", "manifests/homebrew/whichkernel.rb"]
        );
        for file in &linux {
            let text = String::from_utf8_lossy(&file.bytes);
            assert!(text.contains(&format!("https://example.com/w/releases/download/v1.2.3/{archive}")), "{text}");
            assert!(text.contains(&sha256(b"linux")), "{text}");
        }
        let script = out.path().join("PKGBUILD");
        fs::write(&script, &linux[0].bytes).unwrap();
        assert!(std::process::Command::new("bash").arg("-n").arg(script).status().unwrap().success());
        fs::write(out.path().join("whichkernel-1.2.3-x86_64-pc-windows-gnu.zip"), "windows").unwrap();
        let all = files(&release, out.path()).unwrap();
        let scoop: Value = serde_json::from_slice(&all[3].bytes).unwrap();
        assert_eq!(scoop["architecture"]["64bit"]["hash"], sha256(b"windows"));
        assert_eq!(scoop["extract_dir"], "whichkernel-1.2.3-x86_64-pc-windows-gnu");
        let winget: Vec<(&str, String)> = all[4..]
            .iter()
            .map(|file| (file.name.as_str(), String::from_utf8_lossy(&file.bytes).into_owned()))
            .collect();
        assert_eq!(winget.iter().filter(|(_, text)| text.contains("PackageVersion: 1.2.3\n")).count(), 3);
        let (name, installer) = winget.last().unwrap();
        assert_eq!(*name, "manifests/winget/whichkernel.whichkernel.installer.yaml");
        assert!(installer.contains(&sha256(b"windows")));
        assert!(installer.contains("whichkernel-1.2.3-x86_64-pc-windows-gnu\\whichkernel.exe"), "{installer}");
    }

    #[test]
    fn without_a_repository_or_an_archive_no_address_is_made_up() {
        let out = tempfile::tempdir().unwrap();
        assert!(files(&release("https://example.com/w"), out.path()).unwrap().is_empty());
        fs::write(out.path().join("whichkernel-1.2.3-x86_64-unknown-linux-gnu.tar.gz"), "linux").unwrap();
        assert!(files(&release(""), out.path()).unwrap().is_empty());
    }
}
