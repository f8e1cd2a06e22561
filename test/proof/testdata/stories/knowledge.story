# A knowledge space is made, an item added, read, promoted, asked for, taken back and removed.
machines laptop
laptop$ tandem pin set
laptop> tandem knowledge create handbook --purpose 'How we release and who decides'      # (PIN)
  shows handbook is made
laptop> tandem knowledge add handbook 'Releases are cut on Tuesdays.' --title 'Release day' --covers release/day --key release-day
  shows waits in handbook
laptop> tandem knowledge show handbook --state working
  shows Release day
let kno_01k8z laptop$ tandem knowledge show handbook --json | grep -o 'kno_[a-z0-9]*' | head -1
laptop> tandem knowledge promote kno_01k8z --default      # you read it: from now on it answers (PIN)
  shows is default in handbook
laptop> tandem knowledge ask when are releases cut
  shows Releases are cut on Tuesdays.
laptop> tandem knowledge deprecate kno_01k8z --reason 'releases moved to Thursdays'
  shows is deprecated in handbook
laptop> tandem knowledge remove kno_01k8z                 # its text is deleted (PIN)
  shows is deleted, 1 item
