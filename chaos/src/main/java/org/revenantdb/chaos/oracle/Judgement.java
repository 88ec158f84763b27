package org.revenantdb.chaos.oracle;

import java.util.List;

/**
 * What the oracle says of a recovered state.
 *
 * @param findings all that is wrong; empty if everything held
 * @param survivedInDoubt how many transactions in doubt are there
 * @param lostInDoubt how many transactions in doubt are not there
 */
public record Judgement(List<Finding> findings, int survivedInDoubt, int lostInDoubt) {

  /** Copies the list. */
  public Judgement {
    findings = List.copyOf(findings);
  }

  /**
   * Tells whether everything held.
   *
   * @return true if nothing was found
   */
  public boolean holds() {
    return findings.isEmpty();
  }
}
