package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.count;
import static org.revenantdb.chaos.report.Html.escape;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.CoverageRow.Loss;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A run as one self-contained HTML page: style and plots are inside, there is no script, and the
 * page itself forbids its reader to load anything.
 *
 * <p>Everything comes from the {@link RunReport}; empty parts of it are left out. Only survival is
 * green: results that were not measured are grey.
 */
public final class HtmlReport {

  static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** With more failures than this the rest is folded, so that the page can be skimmed. */
  private static final int OPEN_FAILURES = 3;

  private final RunReport report;
  private final RunFigures figures;
  private final StringBuilder out = new StringBuilder();
  private final StringBuilder contents = new StringBuilder();
  private final @Nullable Path folder;

  private HtmlReport(RunReport report, @Nullable Path folder) {
    this.report = report;
    this.figures = RunFigures.of(report);
    this.folder = folder;
  }

  /**
   * Creates a page.
   *
   * @param report the content
   * @return the page
   */
  public static HtmlReport of(RunReport report) {
    return new HtmlReport(report, null);
  }

  /**
   * Writes the page. Links to the zips of failures are relative to it.
   *
   * @param file the file; its folder is created if needed
   * @throws IOException if writing fails
   */
  public void writeTo(Path file) throws IOException {
    Path target = file.toAbsolutePath().normalize();
    WholeFile.write(target, page(report, target.getParent()));
  }

  /** The page of a report, with links to zips relative to its folder if it has one. */
  static String page(RunReport report, @Nullable Path folder) {
    return new HtmlReport(report, folder).page();
  }

  /** The page, with links to zips as absolute addresses. */
  @Override
  public String toString() {
    return new HtmlReport(report, null).page();
  }

  private String page() {
    parts();
    failures();
    teeth();
    coverage();
    faults();
    section("recovery-time", "Recovery time", HtmlPlots.recoveryTime(report));
    section(
        "cost-by-size",
        "Recovery cost by size of the transaction in flight",
        HtmlPlots.costBySize(report.costBySize()) + costTable(report.costBySize(), null));
    section(
        "cost-by-log",
        "Recovery cost by log since the checkpoint",
        HtmlPlots.costByLog(report) + costTable(report.costByLog(), report.bound()));
    section("sizes", "Log size", HtmlPlots.sizes(report.sizes()));
    section(
        "kills",
        crashTitle(),
        report.kills().stream().map(HtmlPlots::timeline).collect(Collectors.joining()));
    String title = escape(report.title());
    return frame(report.verdict(), title, head(title) + out + verdictsExplained());
  }

  /** A page with the style of all. The title and the body are markup. */
  static String frame(Verdict verdict, String title, String body) {
    return """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>%s: %s</title>
    <style>
    %s</style></head>
    <body>
    """
            .formatted(verdict, title, style())
        + body
        + "</body></html>\n";
  }

  private String crashTitle() {
    boolean cut = report.kills().stream().anyMatch(one -> one.crash() == Crash.POWER_CUT);
    boolean kill = report.kills().stream().anyMatch(one -> one.crash() == Crash.PROCESS_DEATH);
    if (cut && kill) {
      return "Around a crash";
    }
    return cut ? "Around a power cut" : "Around a kill";
  }

  private static String style() {
    try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
      if (in == null) {
        throw new IllegalStateException("report.css is missing from this artifact");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The head of a page: title and counts are markup, and the counts may be empty. */
  static String banner(Verdict verdict, String title, String counts) {
    return "<header class=\"%s\">\n<h1>%s</h1>\n<p class=\"verdict\">%s</p>\n%s</header>\n"
        .formatted(
            colour(verdict), title, verdict, counts.isEmpty() ? "" : "<p>" + counts + "</p>\n");
  }

  private String head(String title) {
    StringBuilder head =
        new StringBuilder(banner(report.verdict(), title, counts(figures.verdicts())));
    head.append("<dl class=\"about\">");
    term(head, "seed", "<code>" + report.seed() + "</code>");
    if (!report.command().isEmpty()) {
      term(head, "again", "<code>" + escape(report.command()) + "</code>");
    }
    term(head, "began", TIME.format(report.started()));
    term(head, "took", escape(length(report.duration())));
    term(head, "machine", escape(report.surroundings().machine()));
    term(head, "JDK", escape(report.surroundings().jdk()));
    term(head, "commit", "<code>" + escape(report.surroundings().commit()) + "</code>");
    head.append("</dl>\n");
    tiles(head);
    if (!contents.isEmpty()) {
      head.append("<nav>" + contents + "</nav>\n");
    }
    return head.toString();
  }

  private void tiles(StringBuilder head) {
    head.append("<div class=\"tiles\">");
    if (figures.states() > 0) {
      tile(head, "", count(figures.states()), "distinct states checked");
    }
    figures
        .statesPerSecond()
        .ifPresent(rate ->
            tile(
                head,
                "",
                Unit.digits(rate),
                "distinct states a second, while they were opened and checked"));
    if (figures.kills() > 0) {
      tile(head, "", count(figures.kills()), "kills");
    }
    recoveryTile(head, 0.5, "recovery, median");
    recoveryTile(head, 1, "recovery, longest");
    if (!report.teeth().isEmpty()) {
      boolean all = figures.teethFound() == report.teeth().size();
      String share = figures.teethFound() + " of " + report.teeth().size();
      tile(head, all ? "good" : "broken", share, "broken subjects found");
    }
    if (!report.coverage().isEmpty()) {
      String colour = figures.undetected() == 0 ? "good" : "";
      String share = figures.losses(Loss.NOTICED) + " of " + report.coverage().size();
      tile(head, colour, share, "forces whose loss was detected");
      if (figures.losses(Loss.UNNOTICED) > 0) {
        String unnoticed = count(figures.losses(Loss.UNNOTICED));
        tile(head, "warn", unnoticed, "forces whose loss was not detected");
      }
    }
    head.append("</div>\n");
  }

  private void recoveryTile(StringBuilder head, double share, String name) {
    OptionalDouble millis = figures.recovery(share);
    if (millis.isPresent()) {
      tile(head, "", Unit.MILLIS.format(millis.getAsDouble()), name);
    }
  }

  private static void tile(StringBuilder head, String cls, String value, String name) {
    head.append(
        "<div class=\"tile %s\"><b>%s</b><span>%s</span></div>"
            .formatted(cls, escape(value), escape(name)));
  }

  private static void term(StringBuilder head, String name, String markup) {
    head.append("<div><dt>" + name + "</dt><dd>" + markup + "</dd></div>");
  }

  private void section(String id, String title, String markup) {
    if (!markup.isEmpty()) {
      contents.append("<a href=\"#" + id + "\">" + escape(title) + "</a> ");
      out.append("<section id=\"" + id + "\"><h2>" + escape(title) + "</h2>\n" + markup);
      out.append("</section>\n");
    }
  }

  private void parts() {
    HtmlTable table =
        new HtmlTable(
            "part", "verdict", "checks", "#different states", "#kills", "#median", "#longest");
    for (Outcome part : report.parts()) {
      double[] sorted = RunFigures.sorted(part.recoveryMillis());
      table.row(
          "<b>" + escape(part.name()) + "</b>" + under(part.reason()) + under(seen(part)),
          badge(part.verdict()),
          bar(part.verdicts()) + under(plainCounts(part.verdicts())),
          part.states() == 0 ? "" : count(part.states()),
          part.kills() == 0 ? "" : count(part.kills()),
          millis(RunFigures.percentile(sorted, 0.5)),
          millis(RunFigures.percentile(sorted, 1)));
    }
    section("parts", "Results by part", table.orNothing());
  }

  private static String seen(Outcome part) {
    String text = part.seen().text();
    return text.isEmpty() ? "" : "seen: " + text;
  }

  private static String millis(OptionalDouble value) {
    return value.isPresent() ? escape(Unit.MILLIS.format(value.getAsDouble())) : "";
  }

  private void failures() {
    StringBuilder markup = new StringBuilder();
    int shown = 0;
    for (Outcome part : report.parts()) {
      for (Failure failure : part.failures()) {
        markup.append("<details" + (shown < OPEN_FAILURES ? " open" : "") + "><summary>");
        markup.append(badge(failure.verdict()) + " " + escape(failure.title()));
        markup.append("</summary>\n<p class=\"under\">" + escape(part.name()) + ", seed ");
        markup.append("<code>" + failure.seed() + "</code>" + kept(failure.file()) + "</p>\n");
        if (!failure.findings().isEmpty()) {
          markup.append("<ul class=\"findings\">");
          for (Finding finding : failure.findings()) {
            markup.append("<li><b>" + finding.kind() + "</b> " + escape(finding.detail()));
            markup.append("</li>");
          }
          markup.append("</ul>\n");
        }
        markup.append(story(failure.whole()) + "</details>\n");
        shown++;
      }
    }
    section("failures", "Failures", markup.toString());
  }

  private String kept(@Nullable Path file) {
    if (file == null) {
      return "";
    }
    return ", kept in <a href=\""
        + escape(address(file))
        + "\"><code>"
        + escape(file.toString())
        + "</code></a> for <code>--replay</code>";
  }

  /** Relative to the page if possible, so that a folder with both can be moved. */
  private String address(Path file) {
    Path absolute = file.toAbsolutePath().normalize();
    if (folder == null || !folder.getFileSystem().equals(absolute.getFileSystem())) {
      return absolute.toUri().toString();
    }
    try {
      String relative = folder.relativize(absolute).toString().replace('\\', '/');
      return new URI(null, null, "./" + relative, null).toASCIIString();
    } catch (IllegalArgumentException | URISyntaxException e) {
      // On another drive there is no relative path.
      return absolute.toUri().toString();
    }
  }

  private void teeth() {
    HtmlTable table = new HtmlTable("broken on purpose", "found", "#after", "#states", "as");
    for (ToothLine line : report.teeth()) {
      table.row(
          "<b>" + escape(line.name()) + "</b>",
          line.found() ? mark("good", "found") : mark("broken", "NOT FOUND"),
          escape(Unit.SECONDS.format(line.seconds())),
          count(line.states()),
          folded(line.story()));
    }
    section("teeth", "Teeth: are broken stores found?", table.orNothing());
  }

  private void coverage() {
    HtmlTable table =
        new HtmlTable("site", "kind of file", "#forces", "#states without", "detected");
    for (CoverageRow line : report.coverage()) {
      String name = line.site().className().replaceFirst("^.*\\.", "") + "." + line.site().method();
      String lineNumber = line.site().line() > 0 ? ":" + line.site().line() : "";
      table.row(
          "<code title=\"%s\">%s</code>"
              .formatted(escape(line.site().className()), escape(name + lineNumber)),
          escape(line.site().fileKind()),
          line.forces() > 0 ? count(line.forces()) : mark("grey", "not reached"),
          line.states() > 0 ? count(line.states()) : "",
          loss(line));
    }
    String told =
        report.coverage().isEmpty()
            ? ""
            : "<p class=\"told\">%s places that force: %s.</p>\n"
                .formatted(report.coverage().size(), escape(ConsoleSummary.losses(figures)));
    section("coverage", "Force coverage: is a missing force detected?", told + table.orNothing());
  }

  private static String loss(CoverageRow line) {
    return switch (line.loss()) {
      case NOTICED -> escape(line.detectedBy());
      case UNNOTICED -> mark("warn", "no, in a thorough search");
      case UNDECIDED -> mark("grey", "undecided: too little time");
      case NOT_REACHED -> "";
    };
  }

  private void faults() {
    HtmlTable table =
        new HtmlTable(
            "fault", "#lives", "#struck", "#worked on", "#refused", "#states", "contract");
    for (FaultRow line : report.faults()) {
      table.row(
          "<b>" + escape(line.name()) + "</b>",
          count(line.lives()),
          count(line.struck()),
          count(line.worked()),
          count(line.refused()),
          count(line.states()),
          contract(line));
    }
    section("faults", "Faults", table.orNothing());
  }

  /** A fault that never occurred has shown nothing, so it is not green. */
  private static String contract(FaultRow line) {
    if (line.failed() > 0) {
      return mark("bad", "broken in " + count(line.failed()));
    }
    return line.struck() > 0 ? mark("good", "held") : mark("grey", "never struck");
  }

  private static String costTable(List<RecoveryCostPoint> points, @Nullable RecoveryBound bound) {
    HtmlTable table =
        new HtmlTable(
            "",
            "#transaction",
            "#log since checkpoint",
            "#read",
            "#written",
            "#operations",
            "#time",
            bound == null ? "" : "#bound");
    for (RecoveryCostPoint point : points) {
      table.row(
          escape(point.label()),
          bytes(point.transactionBytes()),
          bytes(point.logSinceCheckpoint()),
          bytes(point.bytesRead()),
          bytes(point.bytesWritten()),
          count(point.operations()),
          escape(Unit.MILLIS.format(point.millis())),
          bound == null ? "" : allowed(bound, point));
    }
    return table.orNothing();
  }

  private static String allowed(RecoveryBound bound, RecoveryCostPoint point) {
    String most = Unit.BYTES.format(bound.at((double) point.logSinceCheckpoint()));
    return bound.holds(point) ? escape(most) : mark("bad", "above " + most);
  }

  private static String bytes(long value) {
    return "<span title=\"%s bytes\">%s</span>"
        .formatted(count(value), escape(Unit.BYTES.format((double) value)));
  }

  private static String verdictsExplained() {
    Map<Verdict, String> all = new EnumMap<>(Verdict.class);
    all.put(
        Verdict.SURVIVED,
        "everything promised was there, nothing else was, and the store accepted new work");
    all.put(
        Verdict.NOT_MEASURED,
        "the crash could not be made or observed; no statement about the store");
    all.put(Verdict.LOST, "something that was promised is missing, in whole or in part");
    all.put(Verdict.CORRUPT, "something is there that must not be, or the store cannot be used");
    all.put(Verdict.HARNESS_BROKEN, "the test itself failed; no statement about the store");
    StringBuilder markup = new StringBuilder("<footer><dl>");
    all.forEach((verdict, meaning) ->
        markup.append("<dt>" + badge(verdict) + "</dt><dd>" + meaning + "</dd>"));
    return markup.append("</dl></footer>\n").toString();
  }

  private static String story(String text) {
    return text.isBlank() ? "" : "<pre>" + escape(text.strip()) + "</pre>\n";
  }

  /** The first line, with the rest folded. */
  private static String folded(String text) {
    String[] lines = text.strip().split("\\R", 2);
    return lines.length < 2
        ? escape(lines[0])
        : "<details><summary>" + escape(lines[0]) + "</summary>\n" + story(lines[1]) + "</details>";
  }

  private static String under(String text) {
    return text.isEmpty() ? "" : "<div class=\"under\">" + escape(text) + "</div>";
  }

  static String badge(Verdict verdict) {
    return mark(colour(verdict), verdict.name());
  }

  private static String mark(String colour, String text) {
    return "<span class=\"badge " + colour + "\">" + escape(text) + "</span>";
  }

  private static String counts(Map<Verdict, Long> verdicts) {
    return inOrder(verdicts).entrySet().stream()
        .map(e -> mark(colour(e.getKey()), count(e.getValue()) + " " + e.getKey()))
        .collect(Collectors.joining(" "));
  }

  private static String plainCounts(Map<Verdict, Long> verdicts) {
    return inOrder(verdicts).entrySet().stream()
        .map(e -> count(e.getValue()) + " " + e.getKey())
        .collect(Collectors.joining(", "));
  }

  /** A bar divided by verdicts; the rarest still has some width. */
  private static String bar(Map<Verdict, Long> verdicts) {
    if (inOrder(verdicts).isEmpty()) {
      return "";
    }
    return inOrder(verdicts).entrySet().stream()
        .map(e ->
            "<i class=\"%s\" style=\"flex-grow:%s\"></i>"
                .formatted(colour(e.getKey()), e.getValue()))
        .collect(Collectors.joining("", "<div class=\"bar\">", "</div>"));
  }

  private static Map<Verdict, Long> inOrder(Map<Verdict, Long> verdicts) {
    return RunFigures.sum(List.of(verdicts));
  }

  private static String colour(Verdict verdict) {
    return switch (verdict) {
      case SURVIVED -> "good";
      case NOT_MEASURED -> "grey";
      case LOST -> "lost";
      case CORRUPT -> "bad";
      case HARNESS_BROKEN -> "broken";
    };
  }

  private static String length(Duration duration) {
    long seconds = duration.toSeconds();
    if (seconds < 60) {
      return Unit.SECONDS.format(duration.toNanos() / 1e9);
    }
    return seconds < 3600
        ? seconds / 60 + " min " + seconds % 60 + " s"
        : seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
  }
}
