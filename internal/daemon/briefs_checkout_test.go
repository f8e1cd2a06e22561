package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/testenv"
)

// A session in a checkout of its own, as a job's is, is told of the project that it is of, and not of one with the checkout's name.
func TestABriefIsAboutTheProject(t *testing.T) {
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	app := filepath.Join(t.TempDir(), "app")
	if err := os.Mkdir(app, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty",
		"-m", "first"}} {
		cmd := exec.Command("git", append([]string{"-C", app}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	k := keptAt(t, "")
	k.must("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true})
	k.must("memory.add", wire.AddIn{Text: "The build needs plainplover", Kind: wire.Lesson, Tier: wire.OfProject, Of: "app"})
	k.must("memory.add", wire.AddIn{Text: "Another needs greyplover", Kind: wire.Lesson, Tier: wire.OfProject, Of: "app-job-1"})
	k.must("folder.grant", map[string]any{"path": app})
	made := k.must("session.checkout", session.CheckoutIn{Directory: app, Name: "job-1", Kind: checkout.Worktree}).(session.Checkout)
	s := k.must("session.create", session.CreateIn{Title: "apart", Directory: made.Folder, Model: "mine/scripted-1"}).(*session.Session)
	turn := k.must("session.prompt", session.PromptIn{ID: s.ID, Text: "begin [[say well]]"}).(*session.Turn)
	testenv.Eventually(t, "the turn ends", 2*time.Minute, func() bool {
		return k.must("session.turns", session.TurnIn{ID: s.ID, Turn: turn.ID}).(session.TurnsOut).Turns[0].State == session.Done
	})
	var said string
	for _, q := range model.Requests() {
		if strings.Contains(q.Prompt, "begin") {
			said = string(q.Body)
		}
	}
	if !strings.Contains(said, "plainplover") || strings.Contains(said, "greyplover") {
		t.Errorf("it is told: %s", said)
	}
}
