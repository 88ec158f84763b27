package org.revenantdb.chaos.oracle;

import java.util.List;

/**
 * The result of comparing a recovered state.
 *
 * @param findings everything that is wrong; empty if nothing is
 * @param survivedInDoubt the number of transactions in doubt that are there
 * @param lostInDoubt the number of transactions in doubt that are missing
 */
public record Judgement(List<Finding> findings, int survivedInDoubt, int lostInDoubt) {

  /** Copies the list. */
  public Judgement {
    findings = List.copyOf(findings);
  }

  /**
   * Returns whether there are no findings.
   *
   * @return true if nothing is wrong
   */
  public boolean holds() {
    return findings.isEmpty();
  }
}
