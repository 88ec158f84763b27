package org.revenantdb.chaos.inject;

import java.util.Locale;
import org.revenantdb.chaos.subject.FaultKind;

/**
 * Which hit throws an error, and how many errors follow.
 *
 * @param kind an allocation or a call
 * @param nth which of the matching hits, from 1
 * @param in a class, a package with a dot at the end, a method behind its class, or a method with
 *     its line; empty: anywhere
 * @param of what is allocated, as {@link ErrorSite#of}; empty: anything
 * @param deeperThan only calls with more frames than this on the stack match; 0: all
 * @param errors how many errors are thrown, 1 to {@value #MOST_ERRORS}
 */
public record Target(
    ErrorSite.Kind kind, long nth, String in, String of, int deeperThan, int errors) {

  /** A store that tries again without end must get its memory at last. */
  public static final int MOST_ERRORS = 64;

  /** Checks the numbers. */
  public Target {
    if (nth < 1 || deeperThan < 0 || errors < 1 || errors > MOST_ERRORS) {
      throw new IllegalArgumentException(
          "n is 1 or more, deeper 0 or more, errors 1 to %d, not %d, %d, %d"
              .formatted(MOST_ERRORS, nth, deeperThan, errors));
    }
  }

  /**
   * Chooses the n-th allocation.
   *
   * @param nth from 1
   * @return a target with one error
   */
  public static Target allocation(long nth) {
    return new Target(ErrorSite.Kind.ALLOCATION, nth, "", "", 0, 1);
  }

  /**
   * Chooses the n-th call.
   *
   * @param nth from 1
   * @return a target with one error
   */
  public static Target call(long nth) {
    return new Target(ErrorSite.Kind.CALL, nth, "", "", 0, 1);
  }

  /**
   * Changes which of the matching hits is chosen.
   *
   * @param number from 1
   * @return a changed target
   */
  public Target nth(long number) {
    return new Target(kind, number, in, of, deeperThan, errors);
  }

  /**
   * Counts only the hits of a part of the program.
   *
   * @param part as {@link #in()}
   * @return a changed target
   */
  public Target in(String part) {
    return new Target(kind, nth, part, of, deeperThan, errors);
  }

  /**
   * Counts only allocations of one class.
   *
   * @param allocated as {@link #of()}
   * @return a changed target
   */
  public Target of(String allocated) {
    return new Target(kind, nth, in, allocated, deeperThan, errors);
  }

  /**
   * Counts only calls at a depth.
   *
   * @param frames more than this are on the stack
   * @return a changed target
   */
  public Target deeperThan(int frames) {
    return new Target(kind, nth, in, of, frames, errors);
  }

  /**
   * Changes how many errors are thrown.
   *
   * @param count 1 to {@value #MOST_ERRORS}
   * @return a changed target
   */
  public Target errors(int count) {
    return new Target(kind, nth, in, of, deeperThan, count);
  }

  /** Whether hits of a point count; the depth is another matter. */
  boolean matches(ErrorSite site) {
    return site.kind() == kind && site.isIn(in) && (of.isEmpty() || of.equals(site.of()));
  }

  /**
   * Returns the fault of the catalogue.
   *
   * @return the fault that this is a case of
   */
  public FaultKind fault() {
    if (kind == ErrorSite.Kind.CALL) {
      return FaultKind.CALL_OVERFLOWS;
    }
    return errors == 1 ? FaultKind.ALLOCATION_FAILS : FaultKind.HEAP_FULL;
  }

  /**
   * Reads the text that {@link #toString} makes.
   *
   * @param text for instance {@code allocation,n=12,in=com.acme.Store.put:57,errors=4}
   * @return the target
   * @throws IllegalArgumentException with a message for people, if it is no such text
   */
  public static Target parse(String text) {
    String[] parts = text.strip().split(",", -1);
    Target target =
        switch (parts[0]) {
          case "allocation" -> allocation(1);
          case "call" -> call(1);
          default ->
              throw new IllegalArgumentException(
                  "an error begins with \"allocation\" or \"call\", not with \"" + parts[0] + "\"");
        };
    for (int i = 1; i < parts.length; i++) {
      String[] pair = parts[i].split("=", 2);
      String value = pair.length == 2 ? pair[1] : "";
      target =
          switch (pair[0]) {
            case "n" -> target.nth(number(value));
            case "in" -> target.in(value);
            case "of" -> target.of(value);
            case "deeper" -> target.deeperThan((int) number(value));
            case "errors" -> target.errors((int) number(value));
            default ->
                throw new IllegalArgumentException(
                    "an error has n, in, of, deeper and errors, and no \"" + pair[0] + "\"");
          };
    }
    return target;
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("\"" + text + "\" is no number", e);
    }
  }

  @Override
  public String toString() {
    return kind.name().toLowerCase(Locale.ROOT)
        + ",n="
        + nth
        + (in.isEmpty() ? "" : ",in=" + in)
        + (of.isEmpty() ? "" : ",of=" + of)
        + (deeperThan == 0 ? "" : ",deeper=" + deeperThan)
        + (errors == 1 ? "" : ",errors=" + errors);
  }
}
