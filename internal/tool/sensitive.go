package tool

import (
	"path"
	"path/filepath"
	"strings"
)

// sensitiveNames are file and folder names that hold keys or passwords, wherever they lie. A folder's name covers all
// that is in it.
var sensitiveNames = []string{
	".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx", "*.keychain", "*.keychain-db",
	"*.ppk", "*.gpg",
	"id_rsa*", "id_ed25519*", "id_ecdsa*", "id_dsa*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd",
	".vault-token", "credentials.json", "service-account*.json", "gha-creds-*.json",
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "keychains", "secrets", ".secrets", ".tandem",
}

// sensitivePaths are endings of more than one component.
var sensitivePaths = []string{".config/gcloud", ".config/gh", ".config/op", ".local/share/keyrings", ".codex/auth.json",
	".claude/.credentials.json"}

// Sensitive tells whether a path is one of those that agents cannot reach whatever was granted.
func Sensitive(p string) bool {
	p = strings.ToLower(filepath.ToSlash(p))
	for part := range strings.SplitSeq(p, "/") {
		if sensitiveName(part) {
			return true
		}
	}
	for _, s := range sensitivePaths {
		if strings.HasSuffix(p, "/"+s) || strings.Contains(p, "/"+s+"/") {
			return true
		}
	}
	return false
}

func sensitiveName(name string) bool {
	for _, pat := range sensitiveNames {
		if ok, _ := path.Match(pat, name); ok {
			return true
		}
	}
	return false
}
