package folder_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"tandem/internal/pack/folder"
	"tandem/internal/pack/parts"
)

func files(more map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range map[string]string{
		"pack.toml": "name = \"mine\"\nversion = \"2\"\n[[setting]]\nname = \"where\"\nabout = \"the folder\"\n" +
			"[[knowledge]]\nname = \"house\"\npurpose = \"rules\"\n",
		"automations/one.toml":    "name = \"one\"\nprompt = \"@prompts/ask.md\"\nfolder = \"@{where}\"\n",
		"prompts/ask.md":          "Say \"x\"\nand \\ y\n",
		"policies/p.toml":         "[[grant]]\nautomation = \"one\"\nresource = \"resource:/@{where}\"\npermissions = [\"read\"]\n",
		"knowledge/house/rule.md": "# A rule\n\nBe kind.\n", "README.md": "for people", ".git/HEAD": "x",
	} {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range more {
		if delete(out, name); text != "" {
			out[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

// A folder becomes one thing with one digest: prompts and settings stand in it as texts, whatever they hold.
func TestRead(t *testing.T) {
	p, err := folder.Read(files(nil), map[string]string{"where": `/srv/"a"`})
	if err != nil {
		t.Fatal(err)
	}
	want := "name = \"one\"\nprompt = \"Say \\\"x\\\"\\nand \\\\ y\"\nfolder = \"/srv/\\\"a\\\"\"\n"
	if len(p.Automations) != 1 || p.Automations[0].Text != want {
		t.Errorf("the automation is %q", p.Automations)
	}
	if len(p.Grants) != 1 || p.Grants[0].Resource != `resource://srv/"a"` || p.Grants[0].Automation != "one" {
		t.Errorf("the grants are %+v", p.Grants)
	}
	if k := p.Knowledge; len(k) != 1 || len(k[0].Items) != 1 || k[0].Items[0].Title != "A rule" || k[0].Items[0].Key != "rule" {
		t.Errorf("the knowledge is %+v", p.Knowledge)
	}
	q, err := folder.Read(files(map[string]string{"prompts/ask.md": "Say z"}), map[string]string{"where": `/srv/"a"`})
	if err != nil || q.Digest() == p.Digest() {
		t.Errorf("another prompt is the same pack: %v", err)
	}
}

// What is wrong with a pack is said, not left out.
func TestWhatIsNoPack(t *testing.T) {
	set := map[string]string{"where": "/srv"}
	for why, one := range map[string]map[string]string{
		"no pack.toml":     {"pack.toml": ""},
		"nobody knows":     {"pack.toml": "name = \"mine\"\nversion = \"1\"\nallow = \"all\"\n"},
		"uses stray.md":    {"stray.md": "x"},
		"uses prompts/b":   {"prompts/b.md": "x"},
		"no file prompts":  {"prompts/ask.md": ""},
		"does not name":    {"automations/two.toml": "x = \"@{other}\""},
		"too large":        {"prompts/ask.md": strings.Repeat("x", 300<<10)},
		"says name":        {"pack.toml": "name = \"Mine!\"\nversion = \"1\"\n"},
		"no text":          {"prompts/ask.md": "\xff\xfe"},
		"no setting":       {"pack.toml": "name = \"mine\"\nversion = \"1\"\n[[knowledge]]\nname = \"house\"\npurpose = \"x\"\n"},
		"nobody knows the": {"policies/p.toml": "[[grant]]\nautomation = \"one\"\nprincipal = \"person:owner\"\n"},
	} {
		if _, err := folder.Read(files(one), set); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := folder.Read(files(nil), nil); err == nil || !strings.Contains(err.Error(), "needs to know where") {
		t.Errorf("without its setting: %v", err)
	}
}

// The packs that come with the program can be read.
func TestParts(t *testing.T) {
	for _, name := range parts.Names {
		set := map[string]string{"folder": "/srv/app"}
		if name == "vendor-risk" {
			set = nil
		}
		p, err := folder.Read(parts.Folder(name), set)
		if err != nil || p.Name != name || len(p.Automations) != 1 || strings.Contains(p.Automations[0].Text, "@") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if parts.Folder("none") != nil {
		t.Error("there is a pack that is not there")
	}
}
