package space

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/space/peer"
)

// apart are the commands that are about no space, or about one that is not there yet.
var apart = map[string]bool{"create": true, "join": true, "list": true, "whoami": true, "rename": true, "init": true, "hook": true,
	"guard": true, "attachment": true}

// Choose gives a command the flag that says which space is meant.
func Choose(cmd *cobra.Command) {
	cmd.Flags().String("space", "",
		"name or id of the space, when you are in several (TANDEM_SPACE, else that of this folder or the last one you joined)")
}

// Chosen is the input of a command with the space that was named.
func Chosen[In any](k *kit.Kit, cmd *cobra.Command, in In) (In, error) {
	flag := cmd.Flags().Lookup("space")
	if flag == nil {
		return in, nil
	}
	which := flag.Value.String()
	for _, kv := range k.Env {
		if name, ok := strings.CutPrefix(kv, "TANDEM_SPACE="); ok && which == "" {
			which = name
		}
	}
	if which == "" {
		return in, nil
	}
	data, err := json.Marshal(peer.Which{Space: which})
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return in, fmt.Errorf("name the space: %w", err)
	}
	return in, nil
}
