package bookmark

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A branch that stood at a commit whose check was red, ran on other files, ran with the base's copies, ran after the merge, or never ran,
// is found out, as is a move that is nobody's.
func TestWhatIsWrongIsSeen(t *testing.T) {
	home := t.TempDir()
	repo := filepath.Join(home, "app")
	r := Repository{Path: repo, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Env = r.Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	if err := os.WriteFile(filepath.Join(repo, "a"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := git("rev-parse", "HEAD")
	git("add", "-A")
	git("commit", "-q", "-m", "work")
	at := git("rev-parse", "HEAD")
	line := func(commit, copies, verdict string) string {
		return fmt.Sprintf(`{"type":"job.moved","resource":"job:/j","payload":{"event":"checked","from":"checking","state":"in review",`+
			`"evidence":{"commit":%q,"command":"x","copies":%q,"verdict":%q}}}`+"\n", commit, copies, verdict)
	}
	train := fmt.Sprintf(`{"type":"queue.train","resource":"job:/j","payload":{"evidence":[{"commit":%q,"command":"x","copies":"train",`+
		`"verdict":"green"}]}}`+"\n", at)
	merged := fmt.Sprintf(`{"type":"job.moved","resource":"job:/j","payload":{"from":"queued","state":"merged","commit":%q}}`+"\n", at)
	for journal, wrong := range map[string]string{
		line(at, "job", "green") + merged:                             "",
		line(first, "job", "green") + train + merged:                  "",
		line(at, "job", "green") + line(at, "job", "red") + merged:    `was "red"`,
		line(at, "job", "red") + merged:                               `was "red"`,
		line(first, "job", "green") + merged:                          `was ""`,
		line(at, "base", "green") + merged:                            "nothing checked",
		merged:                                                        "nothing checked",
		merged + line(at, "job", "green"):                             "nothing checked",
		line(first, "job", "green") + merged + train:                  `was ""`,
		line(at, "job", "red") + merged + line(at, "job", "green"):    `was "red"`,
		line(at, "job", "green") + merged + line(at, "job", "red"):    "",
		line(at, "job", "green"):                                      "no job for it",
		strings.Replace(line(at, "job", "green"), "green", "grün", 1): "no job for it",
	} {
		entries, err := Read(strings.NewReader(journal))
		if err != nil {
			t.Fatal(err)
		}
		v, err := Judge(entries, r, "main")
		if err != nil || v.Places != 1 || (wrong == "") != (len(v.Wrong) == 0) || !strings.Contains(strings.Join(v.Wrong, ";"), wrong) {
			t.Errorf("%s\n%+v %v, want %q", journal, v, err, wrong)
		}
	}
}
