package org.revenantdb.history.readme;

import org.revenantdb.history.Access;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.HistorySession;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.history.TransactionOutcome;

public class OnCall {
  public static void main(String[] args) {
    HistoryRecorder recorder = new HistoryRecorder();
    HistorySession alice = recorder.session(0); // one for each client
    HistorySession bob = recorder.session(1);
    alice.begin();
    bob.begin();
    alice.readRegister(2, Access.NIL); // register 2: Bob is not away
    bob.readRegister(1, Access.NIL); // register 1: Alice is not away
    alice.writing(1, 100); // each writes a value of its own, before the store gets it
    bob.writing(2, 200);
    alice.committing();
    alice.ended(TransactionOutcome.DURABLE); // what the store has answered
    bob.committing();
    bob.ended(TransactionOutcome.DURABLE);
    System.out.println(HistoryChecker.check(recorder.history(), IsolationLevel.SNAPSHOT));
    System.out.println(HistoryChecker.check(recorder.history(), IsolationLevel.SERIALIZABLE));
  }
}
