# Work without a definition is begun, written down as it goes, and folded again.
machines laptop
laptop> tandem context start ship version 3 --id release --step build --step 'ship=Ship it to everybody'
  shows release is begun
laptop> tandem context append release step_started --step build --status running
  shows release is running, at revision 2
laptop> tandem context add release review --id r1
  shows r1 is added: runnable
laptop> tandem context add release merge --id m1 --after r1
  shows m1 is added: pending
laptop> tandem context note release add_decision 'no migration in this version'
  shows it is on the blackboard
laptop> tandem context show release
  shows in_progress
laptop> tandem context replay release
  shows no drift
