package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.count;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.CoverageRow.Loss;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Site;

/** A {@link RunReport} as a table for the console, with each failure in a few lines before it. */
public final class ConsoleSummary {

  private static final int STORY_LINES = 12;

  private ConsoleSummary() {}

  /**
   * Returns the report as text.
   *
   * @param report the report
   * @return lines, the last one without a line end
   */
  public static String of(RunReport report) {
    StringBuilder text = new StringBuilder();
    for (Outcome part : report.parts()) {
      for (Failure failure : part.failures()) {
        failure(text, part, failure);
      }
    }
    return text.append(table(report)).toString();
  }

  private static void failure(StringBuilder text, Outcome part, Failure failure) {
    text.append(failure.verdict() + "  " + part.name() + ": " + failure.title() + "\n");
    failure.findings().forEach(finding -> text.append("    " + finding + "\n"));
    List<String> story = failure.whole().strip().lines().toList();
    story.stream().limit(STORY_LINES).forEach(line -> text.append("    " + line + "\n"));
    if (story.size() > STORY_LINES) {
      text.append("    ... %s lines more\n".formatted(story.size() - STORY_LINES));
    }
    text.append("    seed " + failure.seed());
    if (failure.file() != null) {
      text.append(", --replay " + failure.file());
    }
    text.append("\n\n");
  }

  private static TextTable table(RunReport report) {
    RunFigures figures = RunFigures.of(report);
    TextTable table = new TextTable().row(report.title(), report.verdict());
    for (Outcome part : report.parts()) {
      table.row("  " + part.name(), part.verdict() + because(part) + counts(part));
    }
    if (figures.states() > 0) {
      table.row("states", count(figures.states()) + rate(figures));
    }
    if (figures.kills() > 0) {
      table.row("kills", count(figures.kills()));
    }
    String recovery = recovery(figures);
    if (recovery != null) {
      table.row("recovery", recovery);
    }
    if (!report.teeth().isEmpty()) {
      table.row("teeth", figures.teethFound() + " of " + report.teeth().size() + " found");
      report.teeth().stream()
          .filter(line -> !line.found())
          .forEach(line -> table.row("  not found", line.name()));
    }
    coverage(report, figures, table);
    faults(report, table);
    bound(report, table);
    return table.row("seed", report.seed());
  }

  private static void coverage(RunReport report, RunFigures figures, TextTable table) {
    if (report.coverage().isEmpty()) {
      return;
    }
    table.row("force sites", report.coverage().size() + ": " + losses(figures));
    for (Loss loss : List.of(Loss.UNNOTICED, Loss.UNDECIDED, Loss.NOT_REACHED)) {
      for (CoverageRow line : report.coverage()) {
        if (line.loss() == loss) {
          String tried = line.forces() > 0 ? ", states " + count(line.states()) : "";
          table.row("  " + name(loss), place(line.site()) + tried);
        }
      }
    }
  }

  /** Describes how many lost forces were detected, and how many were not. */
  static String losses(RunFigures figures) {
    List<String> words = new ArrayList<>();
    words.add("loss of %s detected".formatted(figures.losses(Loss.NOTICED)));
    if (figures.losses(Loss.UNNOTICED) > 0) {
      words.add("of %s not detected".formatted(figures.losses(Loss.UNNOTICED)));
    }
    if (figures.losses(Loss.UNDECIDED) > 0) {
      words.add("of %s undecided for lack of time".formatted(figures.losses(Loss.UNDECIDED)));
    }
    if (figures.losses(Loss.NOT_REACHED) > 0) {
      words.add("%s not reached".formatted(figures.losses(Loss.NOT_REACHED)));
    }
    return String.join(", ", words);
  }

  private static String name(Loss loss) {
    return switch (loss) {
      case NOTICED -> "detected";
      case UNNOTICED -> "not detected";
      case UNDECIDED -> "undecided";
      case NOT_REACHED -> "not reached";
    };
  }

  /** A site. One that is known only from class files has no kind of file. */
  private static String place(Site site) {
    String text = site.toString();
    return site.fileKind().isEmpty() ? text.replace(" ()", "") : text;
  }

  private static void faults(RunReport report, TextTable table) {
    for (FaultRow fault : report.faults()) {
      if (fault.failed() > 0) {
        table.row("  contract broken", fault.name() + ", in " + count(fault.failed()) + " lives");
      } else if (fault.struck() == 0) {
        table.row("  never struck", fault.name());
      }
    }
    if (!report.faults().isEmpty()) {
      long struck = report.faults().stream().mapToLong(FaultRow::struck).sum();
      long failed = report.faults().stream().mapToLong(FaultRow::failed).sum();
      table.row("faults", "struck " + count(struck) + " lives, broke " + count(failed));
    }
  }

  private static void bound(RunReport report, TextTable table) {
    RecoveryBound bound = report.bound();
    if (bound != null && !report.costByLog().isEmpty()) {
      long above = report.costByLog().stream().filter(point -> !bound.holds(point)).count();
      table.row("above the bound", above + " of " + report.costByLog().size() + " recoveries");
    }
  }

  private static String because(Outcome part) {
    return part.reason().isEmpty() ? "" : ": " + part.reason();
  }

  private static String counts(Outcome part) {
    String counts = verdicts(part.verdicts());
    return counts.isEmpty() ? "" : " (" + counts + ")";
  }

  private static String verdicts(Map<Verdict, Long> verdicts) {
    return RunFigures.sum(List.of(verdicts)).entrySet().stream()
        .map(e -> count(e.getValue()) + " " + e.getKey())
        .collect(Collectors.joining(", "));
  }

  private static String rate(RunFigures figures) {
    OptionalDouble rate = figures.statesPerSecond();
    return rate.isPresent()
        ? ", " + Unit.digits(rate.getAsDouble()) + "/s while they were opened and checked"
        : "";
  }

  private static @Nullable String recovery(RunFigures figures) {
    OptionalDouble median = figures.recovery(0.5);
    OptionalDouble longest = figures.recovery(1);
    return median.isPresent() && longest.isPresent()
        ? "median %s, longest %s of %s"
            .formatted(
                Unit.MILLIS.format(median.getAsDouble()),
                Unit.MILLIS.format(longest.getAsDouble()),
                count(figures.recoveryMillis().length))
        : null;
  }
}
