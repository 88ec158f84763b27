package org.revenantdb.chaos.run;

/**
 * The results of the faults with one name.
 *
 * @param name the name of the faults
 * @param lives the number of lives with the fault
 * @param struck the number of lives in which it occurred
 * @param worked the number of lives in which the subject still finished its work
 * @param refused the number of lives after which the store refused its files, where the contract
 *     allows it
 * @param states the number of images checked afterwards
 * @param failed the number of lives that broke the contract
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
