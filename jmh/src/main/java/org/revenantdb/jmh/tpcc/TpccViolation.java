package org.revenantdb.jmh.tpcc;

/**
 * A condition that does not hold at one place: two numbers that must be the same are not.
 *
 * @param condition its number in the specification, such as {@code 3.3.2.1}; of those that are
 *     ours, a word
 * @param place which warehouse, district, order or customer
 * @param left the meaning of the first number
 * @param leftValue the one number; money in cents
 * @param right the meaning of the second number
 * @param rightValue the other number
 */
public record TpccViolation(
    String condition, String place, String left, long leftValue, String right, long rightValue) {
  @Override
  public String toString() {
    return "condition %s, %s: %s is %d, but %s is %d"
        .formatted(condition, place, left, leftValue, right, rightValue);
  }
}
