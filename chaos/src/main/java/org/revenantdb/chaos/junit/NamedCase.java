package org.revenantdb.chaos.junit;

import org.revenantdb.chaos.subject.CrashCase;

/** A case with a name. */
interface NamedCase extends CrashCase {

  /** The name of the test in a baseline and in the texts of a crash test. */
  String name();

  /** What the test tries, in words. */
  String tries();

  /** The name that JUnit shows. */
  default String shown() {
    return name() + ": " + tries();
  }
}
