package tandem

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// harmful is what a person could harm the machine with by doing as they are told.
var harmful = regexp.MustCompile(`(^|[^a-zA-Z-])(chmod|chown|rm|kill|sudo|mv) [-%/$a-z0-9]|settings set [a-z]|\| sh`)

// looked are the sentences that name such a command or a setting and were looked at: each is about a file or a process of tandem's own,
// or about another program in the words of its makers. Add one only after asking what happens when the path is /tmp, / or a home.
var looked = []string{
	// a user by number; the setting guards, so it asks for the PIN
	"if that is you, through ssh -L or from a container, let it in: tandem settings set panel_uids %s; it counts from the next " +
		"start on: tandem down, then start it as before",
	// a mode that lets in more; the setting guards, so it asks for the PIN
	"start it without saying a mode, and keep the other one, with your PIN: tandem settings set auth_mode %s; where it does not start, " +
		"write auth_mode = %q into %s",
	// a line of a unit, about the process that systemd started for it
	"ExecReload=/bin/kill -HUP $MAINPID",

	"run: chmod 600 %s", // the journal's key
	"run: chmod 600 %s, and then: tandem secret rotate", // the file of master keys
	"chmod 600 %s", // .env in the data folder, or a file that was named with --env-file, --passphrase-file or --identity
	"chmod 700 ",   // a folder that holds tandem's data already
	"mend the cause and start again, or give the restore up and keep what there is: rm %s", // restore.pending
	"take it up: tandem up; or give the restore up, to keep what is here: rm %s",           // the same
	"curl -fsSL https://tailscale.com/install.sh | sh, then: sudo tailscale up",
	"sudo systemctl start tailscaled, then: tailscale status",
	"let yourself run it: sudo tailscale set --operator=$USER",
	"a person stores a key (tandem secret set search/brave, or search/exa) or names an address (tandem settings set " +
		"search.searxng_url URL, or search.url)",
	// numbers, for who may read the status anyway
	"a person opens them: tandem settings set metrics token, then tandem up --replace",
	// where notices go; the setting guards, so it asks for the PIN
	"check this machine's way there, or name a server of your own: tandem settings set ntfy_server ADDRESS",
	"  tandem settings set log.level debug\n  tandem settings set hosts build.example.org",
}

// No advice was given that nobody looked at: chmod 700 /tmp was once printed to whoever put a socket there.
func TestAdviceWasLookedAt(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") ||
			strings.HasPrefix(path, "internal/testenv/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		testenv.Texts(file, func(_ token.Pos, text string) {
			if !harmful.MatchString(text) {
				return
			}
			if used[text] = true; !slices.Contains(looked, text) {
				t.Errorf("%s says %q, which nobody looked at", path, text)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range looked {
		if !used[text] {
			t.Errorf("%q is said nowhere any more", text)
		}
	}
}
