package identity

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

func newPerson(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "person", Short: "The people of this house"}
	cmd.AddCommand(newPersonList(k), newPersonShow(k), newPersonRemove(k), newOwner(k), newAway(k), newBack(k))
	return cmd
}

func newDevice(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "device", Short: "Machines that answer for people elsewhere"}
	cmd.AddCommand(newDeviceList(k), newDeviceRevoke(k))
	return cmd
}

// standing is what a person is here.
func standing(h *room.Human) string {
	switch {
	case h.LeftAt != nil:
		return "left " + when(h.LeftAt)
	case h.Owner:
		return "owner"
	}
	return "member"
}

func newPersonList(k *kit.Kit) *cobra.Command {
	var in room.PeopleIn
	cmd := &cobra.Command{
		Use: "list", Short: "List people and how many machines answer for each", Args: cobra.NoArgs,
		Example: "  tandem person list\n  tandem person list --like ann",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.PersonList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tSTATE\tDEVICES\tLAST SEEN")
				for _, h := range out.People {
					devices, seen := strconv.Itoa(h.Devices), when(h.SeenAt)
					if h.Name == room.Owner {
						devices, seen = "", "" // this machine's own terminal
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", h.Name, standing(h), devices, seen)
				}
				t.Flush()
				if n := len(out.People); n > 0 {
					later(w, out.More, out.People[n-1].Name)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Like, "like", "", "only those whose names have this in them")
	return paged(cmd, &in.After, &in.Limit, "people")
}

func newPersonShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a person and their machines", Args: cobra.ExactArgs(1), Example: "  tandem person show anna",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.PersonShow, room.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s (%s), here since %s\n", out.Name, standing(&out.Human), when(&out.CreatedAt))
				devices(w, out.Machines)
			})
		},
	}
}

func devices(w io.Writer, all []*room.Device) {
	if len(all) == 0 {
		return
	}
	t := kit.Table(w)
	fmt.Fprintln(t, "DEVICE\tPERSON\tTERMINAL\tSTATE\tLAST ANSWERED")
	for _, d := range all {
		state := "active"
		if d.RevokedAt != nil {
			state = "revoked"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Person, d.Terminal, state, when(d.UsedAt))
	}
	t.Flush()
}

func newPersonRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a person: everything of theirs ends; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Remove a person. Their tokens, devices, browsers, passkeys and invitations end at once, " +
			"and what their sessions were about to do is " +
			"refused. What they did stays in the journal under their name. They come back by a new invitation: tandem invite --person NAME.",
		Example: "  tandem person remove anna",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.PersonRemove, room.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is removed: %d tokens, %d devices and %d browsers ended\n", out.Name, out.Tokens, out.Devices, out.Browsers)
			})
		},
	}
}

func newDeviceList(k *kit.Kit) *cobra.Command {
	var in room.DevicesIn
	cmd := &cobra.Command{
		Use: "list", Short: "List the machines that answer for people", Args: cobra.NoArgs,
		Example: "  tandem device list\n  tandem device list --person anna",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.DeviceList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Devices) == 0 {
					fmt.Fprintln(w, "nobody logged in from another machine; to invite somebody: tandem invite --person NAME")
				}
				devices(w, out.Devices)
				if n := len(out.Devices); n > 0 {
					later(w, out.More, out.Devices[n-1].ID)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Person, "person", "", "only those of this person")
	return paged(cmd, &in.After, &in.Limit, "machines")
}

func newDeviceRevoke(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke a machine, as one that was lost; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Revoke a machine that answers for a person: it proves nothing any more, and its token lets nobody in. " +
			"You revoke your own from another machine of yours; an owner revokes anybody's.",
		Example: "  tandem device revoke dev_…",
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(cmd, k, room.DeviceRevoke, room.DeviceIn{ID: args[0]}, args[0]+" is revoked")
		},
	}
}
