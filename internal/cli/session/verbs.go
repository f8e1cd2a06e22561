package session

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
)

func newPrompt(k *kit.Kit) *cobra.Command {
	var o room.Options
	cmd := &cobra.Command{
		Use: "prompt SESSION TEXT", Short: "Give a session something to do, without waiting", Args: cobra.MinimumNArgs(2),
		Example: "  tandem session prompt ses_01j… \"now the tests\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionPrompt, room.PromptIn{ID: id, Text: strings.Join(args[1:], " "), Options: o})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", out.ID, out.State) })
		},
	}
	cmd.Flags().StringVarP(&o.Model, "model", "m", "", "provider/model for this turn")
	return cmd
}

func newCancel(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "cancel SESSION [TURN]", Short: "Stop a turn, or all open turns", Args: cobra.RangeArgs(1, 2),
		Example: "  tandem session cancel ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			in := room.TurnIn{ID: id}
			if len(args) == 2 {
				in.Turn = args[1]
			}
			out, err := op.Do(cmd.Context(), k, room.SessionCancel, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%d turns stopped\n", out.Cancelled) })
		},
	}
}

func newFork(k *kit.Kit) *cobra.Command {
	var in room.ForkIn
	cmd := &cobra.Command{
		Use: "fork SESSION", Short: "Copy a session, whole or up to a message", Args: cobra.ExactArgs(1),
		Example: "  tandem session fork ses_01j… --message msg_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			in.ID = id
			out, err := op.Do(cmd.Context(), k, room.SessionFork, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.ID) })
		},
	}
	cmd.Flags().StringVar(&in.Message, "message", "", "up to this message, without it")
	cmd.Flags().StringVar(&in.Title, "title", "", "what the copy is called")
	return cmd
}

func newRevert(k *kit.Kit) *cobra.Command {
	var in room.RevertIn
	cmd := &cobra.Command{
		Use: "revert SESSION", Short: "Take back the newest prompt: its messages, and the files that it changed", Args: cobra.ExactArgs(1),
		Example: "  tandem session revert ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			in.ID = id
			out, err := op.Do(cmd.Context(), k, room.SessionRevert, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "taken back from %s on\n", out.Message)
				for _, f := range out.Files {
					fmt.Fprintf(w, "restored %s\n", f)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Message, "message", "", "take back this message and all behind it")
	return cmd
}

func newUnrevert(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "unrevert SESSION", Short: "Bring back what was taken back: the messages and the files", Args: cobra.ExactArgs(1),
		Example: "  tandem session unrevert ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionUnrevert, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintln(w, "the messages are back")
				for _, f := range out.Files {
					fmt.Fprintf(w, "brought back %s\n", f)
				}
				for _, f := range out.Left {
					fmt.Fprintf(w, "left as it is %s, which was changed since\n", f)
				}
			})
		},
	}
}

func newDelete(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "delete SESSION", Aliases: []string{"rm"}, Short: "Delete a session; what it did stays in the journal", Args: cobra.ExactArgs(1),
		Example: "  tandem session delete ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionDelete, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone\n", args[0]) })
		},
	}
}
