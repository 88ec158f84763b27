package org.revenantdb.chaos.crash;

import org.revenantdb.chaos.subject.Verdict;

/** The run cannot continue. This is no statement about the store. */
final class BrokenHarnessException extends Exception {

  private static final long serialVersionUID = 1L;

  private final Verdict verdict;
  private final String story;

  BrokenHarnessException(Verdict verdict, String reason, String story) {
    super(reason);
    this.verdict = verdict;
    this.story = story;
  }

  BrokenHarnessException(Verdict verdict, String reason) {
    this(verdict, reason, "");
  }

  Verdict verdict() {
    return verdict;
  }

  String reason() {
    return String.valueOf(getMessage());
  }

  String story() {
    return story;
  }
}
