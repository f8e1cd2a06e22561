package automation

import (
	"strings"
	"testing"

	"tandem/internal/automation/spec"
	"tandem/internal/op"
)

// What stands around a definition is not part of it, and two definitions are none.
func TestADraftIsReadOutOfAnAnswer(t *testing.T) {
	const text = "name = \"a\"\n"
	for said, want := range map[string]string{
		text: text, "```toml\n" + text + "```": text, "Here it is:\n```\n" + text + "```\nDone.": text,
		"```toml\n" + text + "```\nor\n```toml\n" + text + "```": "```toml\n" + text + "```\nor\n```toml\n" + text + "```\n",
	} {
		if got := unfenced(said); got != want {
			t.Errorf("%q is read as %q", said, got)
		}
	}
}

// A draft asks for no more than its caller may: operations, connectors, knowledge, folders, each by its own resource.
func TestADraftIsHeldToItsCaller(t *testing.T) {
	h := newHouse(t)
	may := map[string]bool{"resource.write resource:/mark": true, "knowledge.read knowledge:/ours": true}
	ctx := op.WithMay(op.WithCaller(t.Context(), owner), func(right string, r op.Resource) bool { return may[right+" "+r.String()] })
	for text, want := range map[string]string{
		"[node.operation]\nname = \"mark.add\"\ninput = { text = \"x\" }\n": "",
		"[node.operation]\nname = \"mark.ask\"\ninput = { text = \"x\" }\n": "the operation mark.ask on resource:/asked",
		"[node.turn]\nprompt = \"x\"\nknowledge = [\"ours\"]\n":             "",
		"[node.turn]\nprompt = \"x\"\nknowledge = [\"theirs\"]\n":           "the knowledge space theirs",
		"[node.turn]\nprompt = \"x\"\nconnectors = [\"mail.send\"]\n":       "the connector mail",
		"[node.turn]\nprompt = \"x\"\ntools = [\"teleport\"]\n":             "there is no tool teleport",
		"inputs = { x = \"input.x\" }\n" +
			"[node.operation]\nname = \"mark.add\"\ninput = { text = \"{{x}}\" }\n": "mark.add on resource:/",
	} {
		a, err := spec.Read([]byte("name = \"all\"\n[inputs.x]\ntype = \"string\"\n[[node]]\nid = \"a\"\n" + text))
		h.must(err)
		got := strings.Join(h.beyond(ctx, a), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s\nis said to be beyond its caller because of %q", text, got)
		}
	}
}
