package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// recipe is what a cloud-config of the documents says.
type recipe struct {
	users []string
	files []recipeFile
	lines []string
}

type recipeFile struct{ path, mode, text string }

// recipes reads the blocks of docs/operate.md that set up a machine. They use little of YAML, and what this does not know it refuses.
func recipes(t *testing.T) (out []recipe) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```yaml\n#cloud-config\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var r recipe
		part, deep := "", -1 // how far the lines of a text are moved in
		for line := range strings.Lines(block) {
			line = strings.TrimRight(line, "\n")
			said := strings.TrimLeft(line, " ")
			in := len(line) - len(said)
			item, first := strings.CutPrefix(said, "- ")
			name, value, _ := strings.Cut(item, ": ")
			switch {
			case deep > 0 && in >= deep:
				r.files[len(r.files)-1].text += line[deep:] + "\n"
				continue
			case in == 0:
				part = strings.TrimSuffix(said, ":")
			case part == "users" && first && name == "name":
				r.users = append(r.users, value)
			case part == "write_files" && first && name == "path":
				r.files = append(r.files, recipeFile{path: value})
			case part == "write_files" && name == "permissions":
				r.files[len(r.files)-1].mode = strings.Trim(value, `"`)
			case part == "write_files" && said == "content: |":
				deep = in + 2
				continue
			case part == "write_files" && name == "content":
				r.files[len(r.files)-1].text = value
			case part == "runcmd" && first && strings.HasPrefix(item, "["):
				r.lines = append(r.lines, strings.ReplaceAll(strings.Trim(item, "[]"), ", ", " "))
			case part == "runcmd" && first:
				r.lines = append(r.lines, item)
			default:
				t.Fatalf("nobody knows what this line of a recipe does: %q", line)
			}
			deep = -1
		}
		out = append(out, r)
	}
	if len(out) != 2 {
		t.Fatalf("%d recipes in docs/operate.md", len(out))
	}
	return out
}

// provision does as cloud-init does: accounts with a home and no password, then files, then lines.
func (h *host) provision(r recipe, instead map[string]string) {
	h.t.Helper()
	for _, name := range r.users {
		h.says("", "useradd --create-home "+name+" && passwd -l "+name+" >/dev/null && echo made", "made")
	}
	for _, f := range r.files {
		for from, to := range instead {
			f.text = strings.ReplaceAll(f.text, from, to)
		}
		if strings.ContainsAny(f.text, "'…") {
			h.t.Fatalf("%s: %q is not filled in", f.path, f.text)
		}
		h.says("", fmt.Sprintf("mkdir -p $(dirname %[1]s) && printf %%s '%[2]s' >%[1]s && chmod %[3]s %[1]s && echo made", f.path, f.text,
			f.mode), "made")
	}
	for _, line := range r.lines {
		if out := h.try("", line+" && echo done"); !strings.HasSuffix(out, "done\n") {
			h.t.Fatalf("%s gave:\n%s", line, out)
		}
	}
}

// provisioned sets the machine up by the first recipe, and lets one that nobody sits at join by the second.
func (h *host) provisioned() {
	t := h.t
	t.Helper()
	all := recipes(t)
	hash := exec.Command(testenv.Tandem(t), "pin", "hash")
	hash.Env, hash.Stdin = testenv.Env(t), strings.NewReader("271828\n")
	hashed, err := hash.Output()
	if err != nil {
		t.Fatal(err)
	}
	h.provision(all[0], map[string]string{"argon2id$…": strings.TrimSpace(string(hashed))})
	h.says("tandem", "tandem --data /var/lib/tandem status", "Listen: 0.0.0.0:13013")
	h.says("tandem", "tandem --data /var/lib/tandem status", "Repo: /srv/project")

	// The PIN whose hash the recipe has lets machines in.
	var made struct{ Invite string }
	said := h.present("join.invite", `{"uses":2}`)
	if err := json.Unmarshal([]byte(said), &made); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	h.provision(all[1], map[string]string{"your-server:13013#tdj_…~…": "127.0.0.1:13013#" + made.Invite})
	h.says("agent", "cd ~/work && tandem log", "default@")
	h.says("tandem", "tandem --data /var/lib/tandem invite list", "1 of 2")
}

// present calls an operation with the PIN of the recipe, as a person does who sits at the machine.
func (h *host) present(name, in string) string {
	return h.try("", fmt.Sprintf("runuser -u tandem -- curl -s --unix-socket /var/lib/tandem/tandem.sock -H 'Tandem-Pin: 271828' "+
		"-H 'Content-Type: application/json' -d '%s' http://tandem/op/%s", in, name))
}

// recovered begins to replace the PIN as root, who is another user than the server; everybody is told, and whoever has the PIN stops it.
func (h *host) recovered() {
	t := h.t
	t.Helper()
	const root = "tandem recover root --data /var/lib/tandem"
	h.says("tandem", root, "only root of this machine begins a recovery")
	h.says("", root, "on the same command asks for a new PIN")
	h.says("tandem", "tandem --data /var/lib/tandem doctor", "began to replace the PIN")
	h.says("", "cat /var/lib/tandem/events.log", `"status":"recovery begun"`)
	if out := h.present("recovery.use", `{"pin":"999111"}`); !strings.Contains(out, "error") {
		t.Errorf("the PIN is replaced within the day: %s", out)
	}
	h.present("recovery.stop", "{}")
	h.says("tandem", "tandem --data /var/lib/tandem recover status", "without a code, root of this machine can replace the PIN")
}
