package panel

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/panel/ui"
	"tandem/internal/session"
)

// A change is shown once: its arguments are not repeated as JSON, and of an ask
// that is answered below only its place stays above.
func TestAChangeIsShownOnce(t *testing.T) {
	args := json.RawMessage(`{"path":"a.go","old":"one","new":"two"}`)
	card := cardOf("edit", args, &session.Call{State: session.CallAsking, Ask: "ask_1"})
	if len(card.Diffs) != 1 || card.Args != "" {
		t.Errorf("the diff stands beside %q", card.Args)
	}
	for _, l := range card.Diffs[0].Lines {
		if l.Old != 0 || l.New != 0 {
			t.Errorf("a piece of a file pretends to be line %d or %d", l.Old, l.New)
		}
	}
	more := cardOf("edit", json.RawMessage(`{"path":"a.go","old":"one","new":"two","all":true}`), nil)
	if !strings.Contains(more.Args, `"all": true`) || strings.Contains(more.Args, "two") {
		t.Errorf("beside the diff: %s", more.Args)
	}
	if whole := cardOf("write", json.RawMessage(`{"path":"a.go","content":"one\ntwo\n"}`), nil); whole.Diffs[0].Lines[1].New != 2 {
		t.Error("the lines of a whole file have no numbers")
	}
	shownBelow([]ChatEntry{{Kind: "text"}, {Kind: "call", Call: card}}, "ask_1")
	if len(card.Diffs) != 0 || !card.Below {
		t.Error("an ask and its call show the same")
	}
	page := &approval.Page{Pieces: []approval.Piece{{Name: "args.old_string", Form: approval.Gone, Text: "one"},
		{Name: "args.new_string", Form: approval.Come, Text: "two"}}}
	if l := askParts(page, "ask_1")[0].Diffs[0].Lines[0]; l.Old != 0 {
		t.Errorf("an ask numbers a piece of a file from %d", l.Old)
	}
}

// A dialog opens with the focus where one types: its cross comes last.
func TestTheCrossOfADialogComesLast(t *testing.T) {
	var b strings.Builder
	if err := ui.Dialog("d", "Title").Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(b.String(), "</header>")
	if !strings.HasSuffix(b.String(), "</button></dialog>") || strings.Contains(head, "<button") {
		t.Error(b.String())
	}
	b.Reset()
	ask := sampleAsk()
	if err := askPage(galleryShell("approvals", "Ask", nil), galleryNow, ask).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	dialog := b.String()[strings.Index(b.String(), `id="decide-approve"`):]
	if pin, cross := strings.Index(dialog, `name="pin"`), strings.Index(dialog, `dialog-close`); pin < 0 || cross < pin {
		t.Errorf("the PIN is at %d, the cross at %d", pin, cross)
	}
}
