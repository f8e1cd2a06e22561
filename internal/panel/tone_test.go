package panel

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/panel/ui"
)

// Red is for what is broken. What somebody decided, what policy holds back and
// what waits for a person is not.
func TestNothingIsRedThatIsNotWrong(t *testing.T) {
	revoked, _ := tokenState(galleryNow, TokenRow{Revoked: true})
	for what, tone := range map[string]ui.Tone{
		"a cancelled ask": stateTone("cancelled"), "an expired ask": stateTone("expired"), "a revoked token": revoked,
		"a parked relay": relayTone("parked"), "a blocked relay": relayTone("blocked"), "a denial": effectTone("deny"),
		"a refusal": outcomeTone("denied"), "refusals of a day": OverviewView{Refused: 3}.refusedTone(),
		"an explained refusal":    answerTone("deny"),
		"a turn that was stopped": turnTone("cancelled"), "a closed program": programTone("closed"),
	} {
		if tone == ui.Bad {
			t.Errorf("%s is red", what)
		}
	}
	for what, tone := range map[string]ui.Tone{"a failed turn": turnTone("failed"), "a crash": programTone("crashed"),
		"a failure": outcomeTone("failed")} {
		if tone != ui.Bad {
			t.Errorf("%s is not red", what)
		}
	}
	if relayTone("parked") == ui.Good {
		t.Error("a relay that stopped at its limit looks finished")
	}
}

// Tables give their width to what is read, and a thing is called by its name
// before its id.
func TestTablesAreReadByName(t *testing.T) {
	var b strings.Builder
	page := actorsPage(galleryShell("actors", "Actors", nil), ActorsView{Now: galleryNow, Actors: sampleActors(), Tokens: sampleTokens()})
	if err := page.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	if strings.Contains(html, `class="wide "`) {
		t.Error("a short name has all the width")
	}
	if name, id := strings.Index(html, "build server"), strings.Index(html, "tok_01jcq31x8m2"); name < 0 || id < name {
		t.Errorf("the label is at %d, the id at %d", name, id)
	}
}

// Who agreed already, or for whom it is asked, is named and may not approve. They can still say no, and read why not yes.
func TestWhoIsNamedCanSayNo(t *testing.T) {
	show := func(a AskView) string {
		var b strings.Builder
		if err := askPage(galleryShell("approvals", "Ask", nil), galleryNow, a).Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a := sampleAsk()
	a.May, a.MayDeny, a.MayNot, a.Always = false, true, "anna agreed already", "Bash(ls)"
	said := show(a)
	for _, want := range []string{`id="decide-cancel"`, `id="decide-rework"`, "anna agreed already"} {
		if !strings.Contains(said, want) {
			t.Errorf("who may say no does not find %s", want)
		}
	}
	if strings.Contains(said, `id="decide-approve"`) || strings.Contains(said, `id="decide-always"`) {
		t.Error("who may only say no is offered a yes")
	}
	if a.MayDeny = false; strings.Contains(show(a), `id="decide-`) {
		t.Error("who may not answer is offered an answer")
	}
}
