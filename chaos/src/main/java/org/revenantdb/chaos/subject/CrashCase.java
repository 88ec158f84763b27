package org.revenantdb.chaos.subject;

/** One kind of crash under one profile, ready to run. Made by the framework. */
public interface CrashCase {

  /**
   * Runs the crash test.
   *
   * @throws AssertionError unless the subject survived
   * @throws Exception if the crash could not be measured here; JUnit then reports the test as
   *     skipped
   */
  void run() throws Exception;
}
