package org.revenantdb.chaos.run;

/**
 * What came of the faults of one name.
 *
 * @param name of the fault
 * @param lives that were lived with it
 * @param struck in how many of them it struck
 * @param worked in how many the subject went on to the end of its work all the same
 * @param refused in how many the store refused its files afterwards, as it may where the contract
 *     says so
 * @param states images that were checked afterwards
 * @param failed how many lives broke the contract
 */
public record FaultRow(
    String name, int lives, int struck, int worked, int refused, long states, int failed) {

  FaultRow plus(FaultRow other) {
    return new FaultRow(
        name,
        lives + other.lives,
        struck + other.struck,
        worked + other.worked,
        refused + other.refused,
        states + other.states,
        failed + other.failed);
  }
}
