package org.revenantdb.chaos.junit;

import org.revenantdb.chaos.teeth.Bite;

/** Proves that a store which is broken on purpose is found. */
interface Prover {
  Bite prove();
}
