package org.revenantdb.chaos.fault;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * When one fault is injected: for which kinds of operations, on which files, and at which of those
 * operations. Immutable; each method returns a narrower rule.
 *
 * {@snippet :
 * FaultRule.of(new Fault.FailForce(true)).kinds(Kind.FORCE).path("log/*").nth(3)
 * }
 */
public final class FaultRule {

  private final Fault fault;
  private final Set<FileOperation.Kind> kinds;
  private final String pathText;
  private final Predicate<String> path;
  private final long first;
  private final long last;

  private FaultRule(
      Fault fault,
      Set<FileOperation.Kind> kinds,
      String pathText,
      Predicate<String> path,
      long first,
      long last) {
    this.fault = fault;
    this.kinds = kinds;
    this.pathText = pathText;
    this.path = path;
    this.first = first;
    this.last = last;
  }

  /**
   * Returns a rule for every operation.
   *
   * @param fault the fault; {@link Fault#NONE} for a rule that only counts
   * @return the rule
   */
  public static FaultRule of(Fault fault) {
    return new FaultRule(
        fault, EnumSet.allOf(FileOperation.Kind.class), "", any -> true, 1, Long.MAX_VALUE);
  }

  /**
   * Restricts the rule to some kinds of operations.
   *
   * @param sorts at least one
   * @return the narrower rule
   */
  public FaultRule kinds(FileOperation.Kind... sorts) {
    EnumSet<FileOperation.Kind> both = EnumSet.copyOf(Arrays.asList(sorts));
    both.retainAll(kinds);
    return new FaultRule(fault, both, pathText, path, first, last);
  }

  /**
   * Restricts the rule to files with a certain path.
   *
   * @param glob the path relative to the directory under test; {@code *} stands for anything but
   *     {@code /}, {@code **} for anything, {@code ?} for a character; empty for the directory
   *     itself
   * @return the narrower rule
   */
  public FaultRule path(String glob) {
    Predicate<String> matches = pattern(glob).asMatchPredicate();
    return path(glob.isEmpty() ? "." : glob, matches);
  }

  /**
   * Restricts the rule to files with a certain path.
   *
   * @param text a description of these files, for reports
   * @param condition true for them
   * @return the narrower rule
   */
  public FaultRule path(String text, Predicate<String> condition) {
    String both = pathText.isEmpty() ? text : pathText + " and " + text;
    return new FaultRule(fault, kinds, both, path.and(condition), first, last);
  }

  /**
   * Restricts the rule to one operation.
   *
   * @param n at which of the operations that match, from 1
   * @return the narrower rule
   */
  public FaultRule nth(long n) {
    return between(n, n);
  }

  /**
   * Restricts the rule to one operation and all later ones.
   *
   * @param n at which of the operations that match, from 1
   * @return the narrower rule
   */
  public FaultRule from(long n) {
    return between(n, Long.MAX_VALUE);
  }

  /**
   * Restricts the rule to a range of operations.
   *
   * @param from the first of the operations that match, from 1
   * @param to the last one
   * @return the narrower rule
   */
  public FaultRule between(long from, long to) {
    if (from < 1 || to < from) {
      throw new IllegalArgumentException("from " + from + " to " + to);
    }
    return new FaultRule(fault, kinds, pathText, path, from, to);
  }

  /**
   * Returns the fault.
   *
   * @return the fault
   */
  public Fault fault() {
    return fault;
  }

  /** Whether an operation matches the rule, whatever its number. */
  boolean matches(FileOperation operation) {
    return kinds.contains(operation.kind()) && path.test(operation.path());
  }

  /** Whether the fault is injected at the n-th operation that matches, from 1. */
  boolean strikesAt(long n) {
    return n >= first && n <= last;
  }

  /**
   * Returns the rule in words.
   *
   * @return for instance {@code FailForce[clean=true] at FORCE 3 of log/*}
   */
  @Override
  public String toString() {
    String sorts =
        kinds.size() == FileOperation.Kind.values().length
            ? "operation"
            : kinds.stream().map(Enum::name).collect(Collectors.joining("/"));
    String which =
        first == last
            ? " " + first
            : last < Long.MAX_VALUE
                ? " " + first + " to " + last
                : first > 1 ? " " + first + " and later" : ", each";
    return fault + " at " + sorts + which + (pathText.isEmpty() ? "" : " of " + pathText);
  }

  private static Pattern pattern(String glob) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < glob.length(); i++) {
      char c = glob.charAt(i);
      if (c == '*' && i + 1 < glob.length() && glob.charAt(i + 1) == '*') {
        regex.append(".*");
        i++;
      } else if (c == '*') {
        regex.append("[^/]*");
      } else if (c == '?') {
        regex.append("[^/]");
      } else {
        regex.append(Pattern.quote(String.valueOf(c)));
      }
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }
}
