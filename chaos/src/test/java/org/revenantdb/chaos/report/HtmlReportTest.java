package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FaultRow;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Site;
import org.xml.sax.InputSource;

class HtmlReportTest {

  private static final Path FOLDER = Path.of("target", "sample-report");

  private static RunReport.Builder empty(String title) {
    return RunReport.builder(title, 7)
        .ran(Instant.EPOCH, Duration.ZERO)
        .surroundings(new Surroundings("m", "j", "c"));
  }

  /** Also writes the page for people to look at. */
  @Test
  void page_withEverything_isSelfContained() throws Exception {
    Path file = FOLDER.resolve("report.html");
    HtmlReport.of(SampleReport.full(FOLDER)).writeTo(file);
    String page = Files.readString(file);
    for (String id :
        List.of(
            "parts",
            "failures",
            "teeth",
            "coverage",
            "faults",
            "recovery-time",
            "cost-by-size",
            "cost-by-log",
            "sizes",
            "kills")) {
      assertTrue(page.contains("<section id=\"" + id + "\">"), id);
      assertTrue(page.contains("<a href=\"#" + id + "\">"), id);
    }
    assertFalse(page.contains("<script"), "a script");
    assertFalse(Pattern.compile("(?i)https?:|url\\(|@import|<link|<img").matcher(page).find());
    assertTrue(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
    assertTrue(
        page.contains("<a href=\"./failures/power%20cut%20%231.zip\">"), "a link that moves");
  }

  @Test
  void page_isWellFormed() throws Exception {
    String page = HtmlReport.of(SampleReport.full(FOLDER)).toString();
    String xml =
        page.replaceFirst("<!DOCTYPE html>", "").replaceAll("<meta ([^>]*)>", "<meta $1/>");
    assertNotNull(
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(xml.replace("<details open>", "<details>")))));
  }

  @Test
  void text_ofAnyKind_staysText() {
    String evil = "<script>alert('1')</script> & \"x\" \u0000\uD800";
    Outcome outcome =
        new Outcome(
            evil,
            Verdict.LOST,
            evil,
            Map.of(Verdict.LOST, 1L),
            1,
            0,
            new double[] {1},
            List.of(new Failure(Verdict.LOST, evil, List.of(), evil, 1, Path.of("<b>.zip"))));
    String page =
        HtmlReport.of(
                empty(evil)
                    .command(evil)
                    .part(outcome)
                    .tooth(new ToothLine(evil, true, 1, 1, evil))
                    .fault(new FaultRow(evil, 1, 1, 1, 1, 1, 0))
                    .costByLog(new RecoveryCostPoint(evil, 1, 1, 1, 1, 1, 1))
                    .bound(new RecoveryBound(evil, 1, 1))
                    .kill(
                        new KillTimeline(
                            Crash.POWER_CUT,
                            evil,
                            List.of(),
                            List.of(KillTimeline.Event.at(evil, 1, evil))))
                    .build())
            .toString();
    assertFalse(page.contains("<script"), page);
    assertFalse(page.contains("alert('1')"), page);
    assertFalse(page.contains("\u0000"), page);
    assertFalse(page.contains("<b>.zip"), page);
    assertTrue(
        page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;"));
  }

  @Test
  void file_withAnUnpairedSurrogate_isStillWritten(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("new").resolve("report.html");
    HtmlReport.of(empty("key \uD800").build()).writeTo(file);
    assertTrue(Files.readString(file).contains("key ?"));
    Path json = dir.resolve("report.json");
    RunJson.fill(empty("key \uD800").build(), new JsonReport()).writeTo(json);
    assertTrue(Files.readString(json).contains("key \\ud800"));
  }

  @Test
  void page_withoutResults_hasNoSectionsAndClaimsNothing() {
    String page = HtmlReport.of(empty("nothing").build()).toString();
    assertFalse(page.contains("<section"), page);
    assertFalse(page.contains("<nav"), page);
    assertFalse(page.contains("<div class=\"tile "), page);
    assertTrue(page.contains("<header class=\"grey\">"), page);
    assertTrue(page.contains("<p class=\"verdict\">NOT_MEASURED</p>"), page);
  }

  @Test
  void notMeasured_isGreyEverywhere_neverGreen() {
    String page =
        HtmlReport.of(empty("t").part(Outcome.of("p", Verdict.NOT_MEASURED, "no")).build())
            .toString();
    String body = page.substring(page.indexOf("<body>"), page.indexOf("<footer>"));
    assertTrue(body.contains("<header class=\"grey\">"), body);
    assertTrue(body.contains("<span class=\"badge grey\">NOT_MEASURED</span>"), body);
    assertTrue(body.contains("<i class=\"grey\""), body);
    assertFalse(body.contains("good"), body);
  }

  @Test
  void fault_thatNeverOccurred_isGrey_neverGreen() {
    String page =
        HtmlReport.of(empty("t").fault(new FaultRow("f", 9, 0, 9, 0, 9, 0)).build()).toString();
    String body = page.substring(page.indexOf("<body>"), page.indexOf("<footer>"));
    assertTrue(body.contains("<span class=\"badge grey\">never struck</span>"), body);
    assertFalse(body.contains("good"), body);
  }

  @Test
  void forces_withoutEnoughTime_areNotReportedAsUndetected() {
    Site site = new Site("C", "m", 1, "log");
    String hurried =
        HtmlReport.of(empty("t").coverage(new CoverageRow(site, 7, 1, "", false)).build())
            .toString();
    assertTrue(hurried.contains("<span class=\"badge grey\">undecided: too little time</span>"));
    assertTrue(hurried.contains("<b>0 of 1</b><span>forces whose loss was detected</span>"));
    assertFalse(
        hurried.contains("was not detected") || hurried.contains("thorough search"), hurried);
    String thorough =
        HtmlReport.of(empty("t").coverage(new CoverageRow(site, 7, 900, "", true)).build())
            .toString();
    assertTrue(
        thorough.contains("<b>1</b><span>forces whose loss was not detected</span>"), thorough);
    assertTrue(thorough.contains("no, in a thorough search"), thorough);
  }

  @Test
  void section_ofACrash_containsItsKind() {
    KillTimeline cut = new KillTimeline(Crash.POWER_CUT, "x", List.of(1L), List.of());
    KillTimeline kill = new KillTimeline(Crash.PROCESS_DEATH, "x", List.of(1L), List.of());
    assertTrue(
        HtmlReport.of(empty("t").kill(cut).build()).toString().contains("Around a power cut<"));
    assertTrue(HtmlReport.of(empty("t").kill(kill).build()).toString().contains("Around a kill<"));
    assertTrue(
        HtmlReport.of(empty("t").kill(kill).kill(cut).build())
            .toString()
            .contains("Around a crash<"));
  }

  @Test
  void longStories_areFoldedAndWrapped_notScrolled() {
    String page = HtmlReport.of(SampleReport.full(FOLDER)).toString();
    assertTrue(page.contains("<details><summary>LOST: key 5</summary>"), page);
    String style = page.substring(page.indexOf("<style>"), page.indexOf("</style>"));
    assertTrue(style.contains("white-space: pre-wrap"), style);
    assertFalse(style.contains("max-height"), "a scroll box in a table");
  }

  @Test
  void verdict_isTheWorst_andABrokenSubjectNotFoundBreaksTheHarness() {
    Outcome fine = Outcome.of("a", Verdict.SURVIVED, "");
    assertEquals(Verdict.SURVIVED, empty("t").part(fine).build().verdict());
    assertEquals(
        Verdict.LOST,
        empty("t").part(Outcome.of("b", Verdict.LOST, "")).part(fine).build().verdict());
    assertEquals(
        Verdict.HARNESS_BROKEN,
        empty("t").part(fine).tooth(new ToothLine("x", false, 1, 1, "")).build().verdict());
    assertEquals(
        Verdict.HARNESS_BROKEN,
        empty("t").tooth(new ToothLine("x", false, 1, 1, "")).build().verdict());
  }

  @Test
  void recoveryAboveTheBound_isReported() {
    RecoveryBound bound = new RecoveryBound("b", 10, 2);
    RecoveryCostPoint on = new RecoveryCostPoint("on", 1, 5, 15, 5, 1, 1);
    RecoveryCostPoint above = new RecoveryCostPoint("above", 1, 5, 15, 6, 1, 1);
    String good = HtmlReport.of(empty("t").costByLog(on).bound(bound).build()).toString();
    assertTrue(good.contains("All 1 recoveries are on or below the declared bound."), good);
    String bad =
        HtmlReport.of(empty("t").costByLog(on).costByLog(above).bound(bound).build()).toString();
    assertTrue(bad.contains("1 of 2 recoveries are ABOVE the declared bound."), bad);
    assertTrue(bad.contains("<span class=\"badge bad\">above 20 B</span>"), bad);
  }

  @Test
  void page_isTheSameInEveryLanguage() {
    RunReport report = SampleReport.full(FOLDER);
    String page = HtmlReport.of(report).toString();
    String console = ConsoleSummary.of(report);
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertEquals(page, HtmlReport.of(report).toString());
      assertEquals(console, ConsoleSummary.of(report));
    } finally {
      Locale.setDefault(before);
    }
  }
}
