package freeze

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

const conformance = "jj/conformance.txt"

var counted = regexp.MustCompile(`(?m)^(test_\w+\.rs) +(\d+)/ *(\d+)$`)

// jj's own command-line tests, which are not part of the project: TANDEM_JJ_CONFORMANCE says where replay.py is. No count may
// sink. In make test some of the files are replayed (they are printed with the seed), in make soak ROOM=./test/freeze all.
func TestJJConformance(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("TANDEM_JJ_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared", "conformance", "jj")
	}
	if _, err := os.Stat(filepath.Join(dir, "replay.py")); err != nil {
		t.Skip("jj's own tests are not on this machine: set TANDEM_JJ_CONFORMANCE to the folder of replay.py")
	}
	if *update && !testenv.Soak() {
		return // counts are written anew by the whole run: TANDEM_SOAK=1 make freeze
	}
	frozen := counts(t)
	files := sorted(frozen)
	if !testenv.Soak() {
		r := testenv.Random(t)
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		files = files[:3]
	}
	words := files
	if testenv.Soak() {
		words = []string{""}
	}
	today := map[string]int{}
	for _, only := range words {
		replay(t, dir, only, today)
	}
	for _, name := range files {
		if today[name] < frozen[name] {
			t.Errorf("%s: %d checks pass, %d did", name, today[name], frozen[name])
		}
		t.Logf("%s: %d of %d that passed", name, today[name], frozen[name])
	}
	if *update {
		var b strings.Builder
		for _, name := range sorted(today) {
			fmt.Fprintf(&b, "%s %d\n", name, today[name])
		}
		Check(t, "jj", map[string]string{"conformance.txt": b.String()})
	}
}

func counts(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(folder(conformance))
	if err != nil && !*update {
		t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if out[name], err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// replay runs the tests whose file is called so, all when it is empty, with this program in jj's place and no other jj in reach.
func replay(t *testing.T, dir, only string, into map[string]int) {
	t.Helper()
	bin := filepath.Join(testenv.Dir(t), "jj")
	if err := os.Symlink(testenv.Tandem(t), bin); err != nil {
		t.Fatal(err)
	}
	args := []string{filepath.Join(dir, "replay.py"), bin, filepath.Join(dir, "open.jsonl"), "-j", "3"}
	if only != "" {
		args = append(args, "-k", only)
	}
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Env = append(testenv.Env(t), "PATH=/usr/bin:/bin")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("replay: %v\n%s", err, out)
	}
	for _, m := range counted.FindAllStringSubmatch(string(out), -1) {
		into[m[1]], _ = strconv.Atoi(m[2])
	}
}
