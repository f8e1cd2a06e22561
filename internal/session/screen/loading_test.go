package screen

import "testing"

// Codex draws its input box before it has its conversation. Who takes it for ready puts the socket away that it is about to open, and
// the program ends: it could not reach its server.
func TestCodexThatLoadsIsNotReady(t *testing.T) {
	const box = "\n\n› Ask Codex to do anything\n\n  ? for shortcuts"
	for text, want := range map[string]State{
		"\n  >_ OpenAI Codex (v0.166.0)\n     loading\n  Resuming session…" + box:                  Working,
		"\n  >_ OpenAI Codex (v0.166.0)\n     ~/code\n" + box:                                      Ready,
		"\n  >_ OpenAI Codex (v0.166.0)\n     ~/code\n› is it?\n\n• It says:\n\n  loading\n" + box: Ready,
	} {
		if got := Read(Codex, text, "code"); got.State != want {
			t.Errorf("%q is %s by %s, want %s", text, got.State, got.Signal, want)
		}
	}
}
