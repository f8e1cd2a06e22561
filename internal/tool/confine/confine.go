package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Plan is what a confined program may do.
type Plan struct {
	// Files and folders, with what is in them: those that it may read and run programs from, and those that it may also change.
	// What is not there is left out.
	Read  []string `json:"read"`
	Write []string `json:"write"`
	// Network lets it make internet sockets. No plan lets it reach a socket in the file system: those belong to programs that
	// are not confined.
	Network bool     `json:"network,omitempty"`
	Argv    []string `json:"argv"`
	// Sockets keeps it from abstract sockets of programs outside, and from nothing else: the rest is bubblewrap's, which it becomes.
	Sockets bool `json:"sockets,omitempty"`
}

// word is the first argument by which this program knows that it is to become another.
const word = "become-confined"

// Command is the confined program, in dir, with env and nothing else as its environment.
func Command(ctx context.Context, p Plan, dir string, env []string) (*exec.Cmd, error) {
	if Called(os.Args) { // a program that forgot to ask Called would start itself without end
		return nil, errors.New("this program was started to become another one, and did not")
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("write down what a command may do: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, word, string(plan))
	cmd.Args[0], cmd.Dir, cmd.Env = "tandem", dir, env
	return cmd, nil
}

// self is the running program by its inode: an update may have replaced it on disk.
const self = "/proc/self/exe"

// Scoped is a command line that becomes argv without a way to abstract sockets of programs outside. It is started by this program,
// or by one that this program became.
func Scoped(argv []string) []string {
	if Called(os.Args) {
		panic("this program was started to become another one, and did not") // see Command
	}
	plan, err := json.Marshal(Plan{Argv: argv, Sockets: true})
	if err != nil {
		panic(err) // strings always encode
	}
	return []string{self, word, string(plan)}
}

// Called says whether these arguments are those of Command.
func Called(args []string) bool { return len(args) == 3 && args[1] == word }

// Main becomes the program of the plan in args. It returns only when that failed, with the exit code.
func Main(args []string, errw io.Writer) int {
	var p Plan
	err := json.Unmarshal([]byte(args[2]), &p)
	if err == nil && len(p.Argv) == 0 {
		err = fmt.Errorf("the plan names no program")
	}
	if err == nil {
		err = become(p)
	}
	fmt.Fprintf(errw, "tandem: the command was not started, because it could not be confined: %v\n", err)
	return 126
}
