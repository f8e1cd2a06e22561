package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal"
)

// newHook is what an agent program's hooks call. What guards (PreToolUse) fails closed: no answer, a late one or a broken one
// ends with code 2, which blocks the tool. What only tells never disturbs the program.
func newHook(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "hook EVENT", Hidden: true, Short: "Tell the server what an agent program told its hook", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			guard := args[0] == "PreToolUse"
			out, err := hook(cmd.Context(), k, args[0])
			switch {
			case err != nil && guard:
				fmt.Fprintf(k.Err, "tandem cannot decide about this tool, so it does not run: %s\n", fault.Public(err).Msg)
				return kit.Silent{Code: 2}
			case err != nil:
				return nil
			}
			if len(out.Output) > 0 {
				if !json.Valid(out.Output) {
					return kit.Silent{Code: 2}
				}
				fmt.Fprintf(k.Out, "%s\n", out.Output)
			}
			return nil
		},
	}
}

func hook(ctx context.Context, k *kit.Kit, event string) (terminal.HookOut, error) {
	var out terminal.HookOut
	path := k.SessionSocket()
	if path == "" {
		return out, fault.New(fault.Invalid, "hook", "this is not a session's program")
	}
	input, err := io.ReadAll(io.LimitReader(k.In, 32<<20))
	if err != nil {
		return out, err
	}
	long := event == "PermissionRequest"
	hold := event == "PreToolUse" && os.Getenv("TANDEM_HOLD_TOOLS") != "" // people may be asked before the tool
	patience := (agents.GuardSeconds - 10) * time.Second
	if !long && !hold {
		// Well before the program would give up on us and go on as if there were no hook.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	c, nonce, began := client.Socket(path), rand.Text(), time.Now()
	for {
		sent := time.Now()
		out, err := op.Do(ctx, c, terminal.SessionHook, terminal.HookIn{Event: event, Input: input, Nonce: nonce})
		long = long || hold && time.Since(sent) > time.Second // it lasted: people are asked
		if err != nil && hold && !long && time.Since(began) > patience {
			return out, err
		}
		// A server that restarts comes back; a question to people waits for it, also where the server broke off in the middle of it.
		if err == nil || !client.Absent(err) && !fault.Is(err, fault.Unavailable) && !(long && fault.Is(err, fault.Internal)) || orphan() {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
