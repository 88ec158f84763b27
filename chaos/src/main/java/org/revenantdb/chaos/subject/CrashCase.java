package org.revenantdb.chaos.subject;

/** One kind of crash under one profile, ready to run. Made by the framework. */
public interface CrashCase {

  /**
   * Runs it.
   *
   * @throws AssertionError unless the subject survived
   * @throws Exception if JUnit is to be told that this could not be measured
   */
  void run() throws Exception;
}
