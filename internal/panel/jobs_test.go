package panel

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem/internal/job/wire"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

// page reads a page that has to be there.
func (b *browser) page(t *testing.T, path string) string {
	t.Helper()
	code, body, _ := b.ask(t, "GET", path, nil)
	if code != http.StatusOK {
		t.Fatalf("%s answered %d %s", path, code, body)
	}
	return body
}

// does posts a form that has to be taken, and answers with where it leads.
func (b *browser) does(t *testing.T, path string, form url.Values) string {
	t.Helper()
	to, _, _ := strings.Cut(b.leads(t, path, form), "?")
	return to
}

// leads is does with the word that the page is opened with.
func (b *browser) leads(t *testing.T, path string, form url.Values) string {
	t.Helper()
	code, body, head := b.ask(t, "POST", path, form)
	if code != http.StatusSeeOther {
		t.Fatalf("%s answered %d %s", path, code, refusedWords(body))
	}
	return head.Get("Location")
}

// shows waits until a page holds a text.
func (b *browser) shows(t *testing.T, path, want string) string {
	t.Helper()
	var body string
	if !testenv.Within(2*time.Minute, func() bool { body = b.page(t, path); return strings.Contains(body, want) }) {
		t.Fatalf("%s does not show %q: %s", path, want, refusedWords(body))
	}
	return body
}

var noticeText = regexp.MustCompile(`(?s)<main.*</main>`)

// refusedWords is the part of a page that a failure should print.
func refusedWords(body string) string {
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(noticeText.FindString(body), " ")
	return strings.Join(strings.Fields(text), " ")
}

// checkout makes a git checkout with one file.
func checkout(t *testing.T, name, text string) string {
	t.Helper()
	folder := filepath.Join(testenv.Dir(t), "app")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"}} {
		git(t, folder, args...)
	}
	return folder
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder}, args...)...)
	cmd.Env = testenv.Env(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// scriptedModel is a provider called fake, and sessions that may work in a folder.
func (h *house) scriptedModel(t *testing.T, folder string) {
	t.Helper()
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	h.do(t, "provider.add", testPIN, map[string]any{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true})
	h.do(t, "folder.grant", testPIN, map[string]any{"path": folder})
	for _, g := range []map[string]any{{"resource": "folder:/", "permissions": []string{"edit"}},
		{"resource": "tool:/", "permissions": []string{"execute"}}} {
		g["principal"], g["effect"], g["data_classes"] = "session:*", "allow", []string{"*"}
		h.do(t, "grant.add", testPIN, g)
	}
}

// A person starts a job in the panel, sends it back, looks at its diff and merges the commit that the page showed. The cookie alone
// merges nothing, and neither does another commit.
func TestAJobFromTheFormToTheBranch(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("checks run in a sandbox, and those are Linux's")
	}
	h := startHouse(t)
	folder := checkout(t, "readme", "first\n")
	h.scriptedModel(t, folder)
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/jobs"); !strings.Contains(body, "No jobs yet") || !strings.Contains(body, folder) {
		t.Errorf("the empty list: %s", refusedWords(body))
	}
	bad := url.Values{"task": {"a long\ntask"}, "folder": {folder}, "budget": {"three"}}
	if code, body, _ := b.ask(t, "POST", "/panel/jobs", bad); code != http.StatusOK || !strings.Contains(body, "is no budget") ||
		!strings.Contains(body, "a long\ntask</textarea>") || !strings.Contains(body, `value="three"`) {
		t.Errorf("a budget that is none: %d %s", code, refusedWords(body))
	}
	job := b.does(t, "/panel/jobs", url.Values{"folder": {folder}, "model": {"fake/s"}, "check": {"test -e answer.txt"}, "budget": {"9turns"},
		"task": {`make the answer [[tool write {"path":"answer.txt","content":"right\n"}]] [[say done]]`}})
	body := b.shows(t, job, "Approve and merge")
	for _, want := range []string{"in review", "green", "answer.txt", "right", "9turns"} {
		if !strings.Contains(body, want) {
			t.Errorf("the job's page lacks %q: %s", want, refusedWords(body))
		}
	}
	if found := b.page(t, "/panel/find?q=make+the+answer"); !strings.Contains(found, job) {
		t.Errorf("the finder does not know it: %s", found)
	}
	if inbox := b.page(t, "/panel/"); !strings.Contains(inbox, `href="`+job+`"`) {
		t.Error("the inbox does not lead to it")
	}
	first := commitOf(t, body)
	if !strings.Contains(body, "I looked at it") || strings.Contains(body, "since=look") {
		t.Errorf("nobody looked at it yet: %s", refusedWords(body))
	}
	b.does(t, job+"/viewed", url.Values{"commit": {first}})
	if body := b.page(t, job); strings.Contains(body, "I looked at it") {
		t.Errorf("the viewer looked at it: %s", refusedWords(body))
	}
	if part := b.page(t, job+"?blanks=no"); !strings.Contains(part, "This is a part of what it changed") ||
		strings.Contains(part, "Approve and merge") {
		t.Errorf("what is approved is all of it: %s", refusedWords(part))
	}

	bad = url.Values{"commit": {first}, "file": {"answer.txt"}, "line": {"one"}, "text": {"say why"}}
	if code, body, _ := b.ask(t, "POST", job+"/comment", bad); code != http.StatusOK || !strings.Contains(body, "a line is a number") ||
		!strings.Contains(body, "say why</textarea>") || !strings.Contains(body, `value="one"`) {
		t.Errorf("a line that is none: %d %s", code, refusedWords(body))
	}
	long := strings.Repeat("more ", 14000) + "words"
	if code, body, _ := b.ask(t, "POST", job+"/back", url.Values{"text": {long}}); code != http.StatusOK ||
		!strings.Contains(body, "That was refused") || !strings.Contains(body, long+"</textarea>") {
		t.Errorf("more than is told at once: %d %s", code, refusedWords(body))
	}
	b.does(t, job+"/comment", url.Values{"commit": {first}, "file": {"answer.txt"}, "line": {"1"}, "text": {"and why?"}})
	if body := b.page(t, job); !strings.Contains(body, "1 comment goes along") || !strings.Contains(body, "and why?") {
		t.Errorf("the comment is not there: %s", refusedWords(body))
	}
	if body := b.page(t, job); strings.Contains(body, job+"/send") || strings.Count(body, `hx-get="`+job) != 2 {
		t.Errorf("one form tells its agent, and one part beside the navigation renews itself: %s", refusedWords(body))
	}
	b.does(t, job+"/back", url.Values{"text": {`and more [[tool write {"path":"more.txt","content":"more\n"}]] [[say done]]`}})
	second := b.merges(t, job, first)
	body = b.page(t, job)
	if !strings.Contains(body, "the line is as it was") || strings.Contains(body, "goes along") {
		t.Errorf("what became of the comment: %s", refusedWords(body))
	}
	if !strings.Contains(body, "since=look") {
		t.Errorf("there is more than the viewer looked at: %s", refusedWords(body))
	}
	if mine := b.page(t, job+"?since=look"); !strings.Contains(mine, "more.txt") || strings.Contains(mine, "added: </span>right") ||
		!strings.Contains(mine, "Approve and merge") {
		t.Errorf("what came since the look: %s", refusedWords(mine))
	}
	if one := b.page(t, job+"?of="+first); strings.Contains(one, ">more.txt<") || !strings.Contains(one, "answer.txt") ||
		strings.Contains(one, "Approve and merge") {
		t.Errorf("the first commit alone: %s", refusedWords(one))
	}
	if code, _, _ := b.ask(t, "GET", job+"/image?commit="+second+"&path=answer.txt", nil); code != http.StatusNotFound {
		t.Errorf("a text is no picture: %d", code)
	}
	if !strings.Contains(b.page(t, job+"?diff=beside"), "more.txt") {
		t.Error("the new file is not in the diff")
	}
	if asks := b.page(t, job+"/merge?commit="+second); !strings.Contains(asks, second) || !strings.Contains(asks, "Merge with PIN") ||
		!strings.Contains(asks, "more.txt") || !strings.Contains(asks, "+1 −0") {
		t.Errorf("the question: %s", refusedWords(asks))
	}
	if old := b.page(t, job+"?commit="+first); !strings.Contains(old, "It is at another commit by now") ||
		strings.Contains(old, "Approve and merge") {
		t.Errorf("a page that was opened before: %s", refusedWords(old))
	}
	if asks := b.page(t, job+"/merge?commit="+first); !strings.Contains(asks, "you looked at") || strings.Contains(asks, "Merge with PIN") {
		t.Errorf("the question about what it was: %s", refusedWords(asks))
	}
	for why, form := range map[string]url.Values{
		"this needs you":       {"commit": {second}},
		"the PIN is wrong":     {"commit": {second}, "pin": {"000000"}},
		"you looked at " + "0": {"commit": {strings.Repeat("0", 40)}, "pin": {testPIN}},
	} {
		if code, body, _ := b.ask(t, "POST", job+"/merge", form); code != http.StatusOK || !strings.Contains(body, why) {
			t.Errorf("%s: %d %s", why, code, refusedWords(body))
		}
	}
	git(t, folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "meanwhile")
	git(t, folder, "switch", "-q", "-c", "mine") // what is checked out is not moved
	if to := b.leads(t, job+"/merge", url.Values{"commit": {second}, "pin": {testPIN}}); to != job+"?said=job-remade" {
		t.Errorf("a branch that moved on: %s", to)
	}
	third := b.merges(t, job, second)
	if to := b.leads(t, job+"/merge", url.Values{"commit": {third}, "pin": {testPIN}}); to != job+"?said=job-merged" {
		t.Errorf("the merge leads to %s", to)
	}
	b.shows(t, job, "Merged into")
	if at := git(t, folder, "rev-parse", "main"); at != third {
		t.Errorf("main is at %s, want %s", at, third)
	}
}

// Of many checks the newest are shown, and a page says how many more there are.
func TestOnlyTheNewestChecksAreShown(t *testing.T) {
	j := &wire.Job{}
	for n := range int64(8) {
		j.Evidence = append(j.Evidence, wire.Evidence{N: n + 1})
	}
	shown, older := jobChecks(j)
	if len(shown) != checksShown || shown[0].N != 8 || older != 3 {
		t.Errorf("%d shown from %d on, %d older", len(shown), shown[0].N, older)
	}
}

// The page of a job whose model only repeats says so; so does the form.
func TestAJobOfTheEchoSaysThatNothingChanges(t *testing.T) {
	h := startHouse(t)
	folder := checkout(t, "readme", "first\n")
	h.do(t, "folder.grant", testPIN, map[string]any{"path": folder})
	b := h.browser(t)
	b.signIn(t)
	if body := b.page(t, "/panel/jobs"); !strings.Contains(body, "echo-1, which changes nothing") {
		t.Errorf("the form: %s", refusedWords(body))
	}
	job := b.does(t, "/panel/jobs", url.Values{"folder": {folder}, "task": {"mend the login"}})
	b.shows(t, job, "Its model changes nothing")
}

// A merge says what became of it: done, done beside a branch that is checked out, or not done because the branch moved on.
func TestAMergeSaysWhatBecameOfIt(t *testing.T) {
	for want, j := range map[string]wire.Job{"job-merged": {State: wire.Merged}, "job-aside": {State: wire.Merged, Next: "git merge"},
		"job-remade": {State: wire.Review}} {
		if got := mergeSaid(&j); got != want || said[got] == "" {
			t.Errorf("%+v: %s, want %s", j, got, want)
		}
	}
}

// Only what is there and printed as it is can be spoken of.
func TestLinesThatCanBeSpokenOf(t *testing.T) {
	for _, f := range []wire.File{{Path: "a.go", How: "deleted"}, {Path: `"a\tb"`, How: "added"},
		{Path: "a.png", How: "added", Type: "image/png"}} {
		if remarkable(f) {
			t.Errorf("%+v can be spoken of", f)
		}
	}
	if !remarkable(wire.File{Path: "a.go", How: "changed"}) {
		t.Error("a changed file cannot be spoken of")
	}
}

// merges waits until a job's page offers another commit to merge than before.
func (b *browser) merges(t *testing.T, job, before string) (commit string) {
	t.Helper()
	var body string
	if !testenv.Within(2*time.Minute, func() bool {
		body = b.page(t, job)
		if !strings.Contains(body, "Approve and merge") {
			return false
		}
		commit = commitOf(t, body)
		return commit != before
	}) {
		t.Fatalf("no other commit came: %s", refusedWords(body))
	}
	return commit
}

var mergeCommit = regexp.MustCompile(`/merge\?commit=([0-9a-f]{40})`)

func commitOf(t *testing.T, body string) string {
	t.Helper()
	m := mergeCommit.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page offers no commit to merge: %s", refusedWords(body))
	}
	return m[1]
}

// A job is stopped and goes on from its page, waits in a queue that the panel protects and pauses, and is taken out again.
func TestAJobStopsAndWaitsInAQueue(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("checks run in a sandbox, and those are Linux's")
	}
	h := startHouse(t)
	folder := checkout(t, "readme", "first\n")
	h.scriptedModel(t, folder)
	b := h.browser(t)
	b.signIn(t)
	queue := url.Values{"folder": {folder}, "branch": {"main"}}
	with := func(more ...string) url.Values {
		f := url.Values{"folder": {folder}, "branch": {"main"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	if asks := b.page(t, "/panel/queues/protect?"+queue.Encode()); !strings.Contains(asks, "Protect with PIN") ||
		!strings.Contains(asks, `value="`+folder+`"`) {
		t.Errorf("the question: %s", refusedWords(asks))
	}
	if asks := b.page(t, "/panel/queues/protect?"+with("push", "origin").Encode()); !strings.Contains(asks, "pushed to origin") ||
		!strings.Contains(asks, `name="push" value="origin"`) {
		t.Errorf("the question with a remote: %s", refusedWords(asks))
	}
	b.does(t, "/panel/queues/protect", with("pin", testPIN))
	b.does(t, "/panel/queues/pause", with())
	b.shows(t, "/panel/jobs", "It is paused")

	job := b.does(t, "/panel/jobs", url.Values{"folder": {folder}, "model": {"fake/s"},
		"task": {`make the answer [[tool write {"path":"answer.txt","content":"right\n"}]] [[say done]]`}})
	b.shows(t, job, "Nothing checked it")
	b.does(t, job+"/stop", url.Values{})
	b.shows(t, job, "It stopped")
	b.does(t, job+"/resume", url.Values{})
	body := b.shows(t, job, "Approve and queue")
	if strings.Contains(body, "Approve and merge") {
		t.Error("a protected branch can be merged into")
	}
	commit := regexp.MustCompile(`/queue\?commit=([0-9a-f]{40})`).FindStringSubmatch(body)[1]
	git(t, folder, "switch", "-q", "--detach") // a queue moves no branch that is checked out
	b.does(t, job+"/queue", url.Values{"commit": {commit}, "pin": {testPIN}})
	b.shows(t, job, "Take it out of the queue")
	b.does(t, job+"/evict", url.Values{})
	b.shows(t, job, "in review")
	b.does(t, "/panel/queues/resume", with("pin", testPIN))
	b.does(t, "/panel/queues/unprotect", with("pin", testPIN))
	b.shows(t, job, "Approve and merge")
	if body := b.page(t, job); strings.Contains(body, "Check again") || !strings.Contains(body, "Send it back") {
		t.Errorf("a job without a check: %s", refusedWords(body))
	}
	b.does(t, job+"/stop", url.Values{"discard": {"yes"}})
	if body := b.shows(t, job, "Its workspace is gone"); strings.Contains(body, "Send it back") {
		t.Errorf("a job that nobody works on: %s", refusedWords(body))
	}
}
