package panel

import (
	"testing"
	"time"

	"tandem/internal/inbox/wire"
)

// sampleInbox has a row of every kind that looks different.
func sampleInbox() []InboxRow {
	ask := answerable()
	question := QuestionView{ID: "que_1", Parts: []QuestionPart{{Header: "Rounding",
		Text:    "Should a credit be rounded before it is taken off?",
		Options: []OptionView{{"Before", "as the bank does it"}, {"After", "as the old program did it"}}}}}
	return []InboxRow{
		{ID: ask.ID, Kind: "ask", Tone: inboxTone(wire.Ask), Name: "builder", What: "Edit internal/billing/invoice.go",
			Since: before(4 * time.Minute), Row: ask.AskRow, Ask: ask,
			Several: []string{"ask_1", "ask_2"}},
		{ID: "ask_2", Kind: "ask", Tone: inboxTone(wire.Ask), Name: "migrator", What: "rm -rf build/\u202ecache && make",
			Since: before(5 * time.Minute), Does: "Look and answer", Href: "/panel/?ask=ask_2"},
		{ID: "que_1", Kind: "question", Tone: inboxTone(wire.Question), Name: "reviewer",
			What: "Should a credit be rounded before it is taken off?", Since: before(6 * time.Minute),
			Does: "The conversation", Href: "/panel/sessions/ses_1", Session: "ses_1", Question: &question},
		{ID: "ses_2", Kind: "crashed", Tone: inboxTone(wire.Crashed), Name: "night-shift", What: "the program ended 137",
			Since: before(time.Hour), Does: "The terminal",
			Href: "/panel/sessions/ses_2/terminal", Session: "ses_2", Resume: true},
		{ID: "ses_3", Kind: "rate-limited", Tone: inboxTone(wire.Limited), Name: "docs", What: "usage limit reached, resets at 15:00",
			Since: before(20 * time.Minute), Does: "The terminal", Href: "/panel/sessions/ses_3/terminal"},
		{ID: "spc_1", Kind: "mail", Tone: inboxTone(wire.Mail), Name: "release 0.4", What: "3 unread for calm-heron",
			Since: before(2 * time.Hour), Does: "Read", Href: "/panel/spaces/messages"},
	}
}

// A row without a word for what is done about it would be a button that says nothing.
func TestEveryKindOfTheInboxCanBeDone(t *testing.T) {
	for _, k := range wire.Kinds {
		if inboxDoes[k] == "" {
			t.Errorf("nothing is done about %s", k)
		}
	}
}
