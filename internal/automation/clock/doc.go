// Package clock says when a scheduled automation is due. It computes only: a schedule is a text, a time zone and a rule for finding the
// next moment; it owns no timer and stores nothing.
//
// A schedule is written as cron has it ("30 9 * * mon-fri", "@daily"), as an interval ("every 15m", "every 3 days"), or in calendar
// words ("every weekday at 9:30", "every month on the last day at 18:00").
//
// Where clocks are put forward or back, a schedule with fixed hours comes once: a moment that the day lacks comes at the first moment
// after the gap, one that the day has twice comes the first time. A schedule that holds for every hour follows time as it passes, through
// both of a repeated hour. Two fixed moments that fall into one gap come together, once.
//
// It refuses what can never come (the 30th of February), what is ambiguous, and what is longer than a line.
package clock
