// Package box builds every sandbox of this program. It owns one contract: a Box says what a program in it sees of the machine and
// what it may do, and Machine.Command makes the command that starts it so. Behind it stand bubblewrap, which shows a world of the
// box's own, and Landlock, which forbids the rest of this one, as does macOS's Seatbelt.
//
// In every box, for root as for anybody: all capabilities are dropped, new privileges cannot be had, other processes are out of
// reach, and nothing is visible that was not named. User namespaces cannot be made, but by the programs that Nesting lists. It fails
// closed: what cannot be built is not started, and what cannot be hidden is refused.
package box
