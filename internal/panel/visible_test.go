package panel

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"tandem/internal/journal"
	"tandem/internal/panel/ui"
)

const (
	hostile = "<img src=x onerror=alert(1)>\u202eevil\u200b\x1b[2J\"'`"
	hidden  = "\u202e\u200b\x1b\u2066\ufeff"
)

// Addresses are not texts from outside: the panel makes them, from escaped ids.
var addresses = map[string]bool{"Href": true, "Here": true, "Older": true, "Newer": true, "Receipt": true, "Action": true, "Back": true,
	"Follow": true, "LeadHref": true, "WorkerHref": true, "SessionHref": true, "RunHref": true, "AskHref": true,
	"ActorHref": true, "Later": true, "LaterGroups": true, "WasHref": true, "IsHref": true}

// poison fills every text of a value with a hostile one, however deep it lies.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[ui.Tone]() || v.Type() == reflect.TypeFor[curve]() {
			return // one of our own five words, or numbers
		}
		v.SetString(v.String() + hostile)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		poison(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !addresses[f.Name] {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		for i := range v.Len() {
			poison(v.Index(i))
		}
	}
}

func poisoned[T any](v T) T {
	poison(reflect.ValueOf(&v).Elem())
	return v
}

// Whatever text reaches a page, in whichever field, it stays text: no element
// comes of it, and no hidden character reaches the reader unannounced.
func TestNoTextBecomesMarkupOrHides(t *testing.T) {
	s := galleryShell("overview", hostile, &ui.Crumb{Label: hostile, Href: "/panel/"})
	s.Person, s.Host, s.Nav[1].Label, s.Nav[1].Items[0].Label = hostile, hostile, hostile, hostile
	ask := sampleAsk()
	ask.Verdict = decidedAsk().Verdict
	ask.Of = len(ask.Pages)
	decidable := poisoned(ask)
	decidable.State = "pending" // so that the dialogs are there
	confirming := poisoned(ConfirmView{Present: true})
	confirming.Fields = nil // what a person has filled in goes back as it is, in fields that show nothing
	pages := map[string]templ.Component{
		"overview":    overviewPage(s, poisoned(sampleOverview())),
		"approvals":   approvalsPage(s, poisoned(ApprovalsView{Rows: sampleAsks, Selected: &ask})),
		"ask":         askPage(s, galleryNow, decidable),
		"several":     severalPage(s, galleryNow, poisoned(SeveralView{Asks: []AskView{ask}, Long: sampleAsks})),
		"journal":     journalPage(s, poisoned(JournalView{Rows: sampleEvents})),
		"entry":       entryPage(s, poisoned(EntryView{EventRow: sampleEvents[0], Prev: 1, Next: 3})),
		"check":       reportPage(s, poisoned(&journal.Report{})),
		"proof":       proofPage(s, poisoned(sampleProof())),
		"actors":      actorsPage(s, poisoned(ActorsView{Actors: sampleActors(), Tokens: sampleTokens(), PIN: true})),
		"actor":       actorPage(s, poisoned(ActorView{ActorRow: sampleActors()[1]})),
		"policy":      policyPage(s, poisoned(samplePolicy())),
		"resources":   resourcesPage(s, poisoned(sampleResources())),
		"repos":       reposPage(s, poisoned(sampleRepos())),
		"system":      systemPage(s, poisoned(sampleSystem())),
		"sessions":    sessionsPage(s, poisoned(sampleSessions())),
		"session":     sessionPage(s, poisoned(sampleSession())),
		"terminal":    terminalPage(s, poisoned(sampleTerminal())),
		"closed":      terminalPage(s, poisoned(closedTerminal())),
		"relays":      relaysPage(s, poisoned(sampleRelays())),
		"relay":       relayPage(s, poisoned(sampleRelay())),
		"jobs":        jobsPage(s, poisoned(sampleJobs())),
		"job":         jobPage(s, poisoned(sampleJob())),
		"automations": automationsPage(s, poisoned(sampleAutomations())),
		"automation":  automationPage(s, poisoned(sampleAutomation())),
		"packs":       packsPage(s, poisoned(samplePacks())),
		"pack":        packPage(s, poisonedPack()),
		"artifacts":   artifactsPage(s, poisoned(sampleArtifacts())),
		"contexts":    contextsPage(s, poisoned(sampleContexts())),
		"context":     contextPage(s, poisoned(sampleContext())),
		"artifact":    artifactPage(s, poisoned(sampleArtifact())),
		"run":         runPage(s, poisoned(sampleRun())),
		"step":        stepActPage(s, poisonedStep()),
		"rehearsal":   rehearsalPage(s, poisoned(sampleRehearsal())),
		"repair":      repairPage(s, poisonedRepair()),
		"people":      peoplePage(s, poisoned(samplePeople())),
		"person":      personPage(s, poisoned(samplePerson())),
		"tenants":     tenantsPage(s, poisoned(sampleTenants())),
		"memory":      memoryPage(s, poisoned(sampleMemory())),
		"record":      recordPage(s, poisoned(sampleRecord())),
		"forgotten":   forgottenPage(s, poisoned(sampleForgotten())),
		"sources":     sourcesPage(s, poisoned(sampleSources())),
		"knowledge":   knowledgePage(s, poisoned(sampleKnowledge())),
		"collection":  knowledgeSpacePage(s, poisoned(sampleKnowledgeSpace())),
		"item":        knowledgeItemPage(s, poisoned(sampleKnowledgeItem())),
		"copies":      copiesPage(s, poisoned(sampleCopies())),
		"setup":       setupPage(s, poisoned(sampleSetup())),
		"connectors":  connectorsPage(s, poisoned(sampleConnectors())),
		"models":      modelsPage(s, poisoned(sampleModels())),
		"board":       boardPage(s, poisoned(sampleBoard())),
		"task":        taskPage(s, poisoned(sampleTask())),
		"space":       spacesPage(s, poisoned(sampleSpace())),
		"mail":        mailPage(s, poisoned(sampleMail())),
		"signin":      signInPage(poisoned(SignInView{})),
		"passkey":     passkeyPage(s, poisoned(PasskeyView{})),
		"confirm":     confirmPage(s, confirming),
		"error":       errorPage(poisoned(ErrorView{})),
	}
	for name, page := range pages {
		var b strings.Builder
		if err := page.Render(context.Background(), &b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		html := b.String()
		if i := strings.Index(html, hostile[:10]); i >= 0 {
			t.Errorf("%s: a text became an element: %s", name, around(html, i))
		}
		if i := strings.IndexAny(html, hidden); i >= 0 {
			t.Errorf("%s: a hidden character got through: %s", name, around(html, i))
		}
		if strings.Contains(html, " style=") || strings.Contains(html, " onclick=") || strings.Contains(html, "<style") {
			t.Errorf("%s: something is styled or scripted inline", name)
		}
	}
}

func around(s string, i int) string {
	return ui.Plain(s[max(0, i-120):min(len(s), i+60)])
}
