package org.revenantdb.chaos.junit;

import org.revenantdb.chaos.subject.CrashCase;

/** A case with a name for JUnit to show. */
interface NamedCase extends CrashCase {

  /** The name. */
  String name();
}
