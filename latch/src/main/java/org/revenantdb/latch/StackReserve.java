package org.revenantdb.latch;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Ensures that the calling thread has enough stack left for its work under latches.
 *
 * <p>A {@link StackOverflowError} that occurs while a latch is held may also occur in the release,
 * and then the latch is held for ever. So an operation calls {@link #ensure} before it acquires its
 * first latch. If the stack is nearly used up, the error is thrown there, where nothing is held.
 *
 * <p>Threads: any, platform or virtual. Allocates nothing.
 */
public final class StackReserve {
  /*
   * Mechanism   A frame that is entered is checked against the end of the stack, whether its slots are written or
   *             not. So a few calls of a method with a large frame, which do nothing, are enough. The frame is
   *             large because of a branch with many live variables:
   *               interpreter  reserves all variables of a method
   *               C1           reserves them, too: it compiles every branch
   *               C2           reserves them as long as it compiles the branch, and it drops a branch that was never
   *                            taken; so the branch is taken sometimes, at random. C2 decides after about 600 calls
   *                            of ensure: with one in 512 the branch had been missed in a third of all processes, and
   *                            so was the reserve.
   *
   * Size        FRAMES + 1 frames of SLOTS variables of 8 bytes: 64 KiB compiled, more interpreted (a long takes two
   *             slots there). A frame of compiled code has 50 to 150 bytes, of interpreted code 100 to 250, and the
   *             deepest call under a latch is some 40 frames deep. The rest is for the JVM, which loads classes and
   *             links lambdas in the thread that first needs them. 34 KiB were not enough for that.
   *
   * Why so wide Each frame costs 2 ns, so 64 KiB of few frames are cheap. Measured, compiled by C2:
   *               variables  60   120   240   480   960
   *               frames    124    64    32    16     8
   *               ns        264   117    65    34  5354
   *             The compiler does not compile a method of more than 8,000 bytes of byte code: that is the 960.
   *             So several variables are declared in a line, and there are as many as the compiler accepts.
   */
  private static final int FRAMES = 16;
  private static final int SLOTS = 480;

  /** 16 KiB more, for {@link #ensureForTwo}. */
  private static final int MORE_FRAMES = 4;

  /** The branch is taken in one of this many calls; a power of two. */
  private static final int SELDOM = 32;

  private static final long[] ZEROS = new long[SLOTS];

  private StackReserve() {}

  /**
   * Returns if there is stack for an operation that takes latches.
   *
   * @throws StackOverflowError if there is not; nothing has been changed
   */
  public static void ensure() {
    ensure(FRAMES);
  }

  /**
   * Returns if there is stack for an operation that takes latches, now, and for another one later.
   * The caller calls both from the same call of one method, with any work in between. That saves
   * the second check.
   *
   * <p>Until then the stack at that place may have grown, because a compiled frame can be replaced
   * by longer ones of the interpreter. So 16 KiB more are demanded.
   *
   * @throws StackOverflowError if there is not; nothing has been changed
   */
  public static void ensureForTwo() {
    ensure(FRAMES + MORE_FRAMES);
  }

  private static void ensure(int frames) {
    boolean takesBranch = (ThreadLocalRandom.current().nextInt() & (SELDOM - 1)) == 0;
    if (reserve(ZEROS, frames, takesBranch) != 0) {
      throw new AssertionError("zeros are not zero");
    }
  }

  @SuppressWarnings("MultiVariableDeclaration") // or there would be 480 lines
  private static long reserve(long[] z, int frames, boolean takesBranch) {
    if (!takesBranch) {
      return frames == 0 ? 0 : reserve(z, frames - 1, /* takesBranch= */ false);
    }
    // All of them are used after the call, so each has a place in the frame.
    long v0 = z[0], v1 = z[1], v2 = z[2], v3 = z[3], v4 = z[4], v5 = z[5], v6 = z[6], v7 = z[7];
    long v8 = z[8], v9 = z[9], v10 = z[10], v11 = z[11], v12 = z[12], v13 = z[13], v14 = z[14];
    long v15 = z[15], v16 = z[16], v17 = z[17], v18 = z[18], v19 = z[19], v20 = z[20], v21 = z[21];
    long v22 = z[22], v23 = z[23], v24 = z[24], v25 = z[25], v26 = z[26], v27 = z[27], v28 = z[28];
    long v29 = z[29], v30 = z[30], v31 = z[31], v32 = z[32], v33 = z[33], v34 = z[34], v35 = z[35];
    long v36 = z[36], v37 = z[37], v38 = z[38], v39 = z[39], v40 = z[40], v41 = z[41], v42 = z[42];
    long v43 = z[43], v44 = z[44], v45 = z[45], v46 = z[46], v47 = z[47], v48 = z[48], v49 = z[49];
    long v50 = z[50], v51 = z[51], v52 = z[52], v53 = z[53], v54 = z[54], v55 = z[55], v56 = z[56];
    long v57 = z[57], v58 = z[58], v59 = z[59], v60 = z[60], v61 = z[61], v62 = z[62], v63 = z[63];
    long v64 = z[64], v65 = z[65], v66 = z[66], v67 = z[67], v68 = z[68], v69 = z[69], v70 = z[70];
    long v71 = z[71], v72 = z[72], v73 = z[73], v74 = z[74], v75 = z[75], v76 = z[76], v77 = z[77];
    long v78 = z[78], v79 = z[79], v80 = z[80], v81 = z[81], v82 = z[82], v83 = z[83], v84 = z[84];
    long v85 = z[85], v86 = z[86], v87 = z[87], v88 = z[88], v89 = z[89], v90 = z[90], v91 = z[91];
    long v92 = z[92], v93 = z[93], v94 = z[94], v95 = z[95], v96 = z[96], v97 = z[97], v98 = z[98];
    long v99 = z[99], v100 = z[100], v101 = z[101], v102 = z[102], v103 = z[103], v104 = z[104];
    long v105 = z[105], v106 = z[106], v107 = z[107], v108 = z[108], v109 = z[109], v110 = z[110];
    long v111 = z[111], v112 = z[112], v113 = z[113], v114 = z[114], v115 = z[115], v116 = z[116];
    long v117 = z[117], v118 = z[118], v119 = z[119], v120 = z[120], v121 = z[121], v122 = z[122];
    long v123 = z[123], v124 = z[124], v125 = z[125], v126 = z[126], v127 = z[127], v128 = z[128];
    long v129 = z[129], v130 = z[130], v131 = z[131], v132 = z[132], v133 = z[133], v134 = z[134];
    long v135 = z[135], v136 = z[136], v137 = z[137], v138 = z[138], v139 = z[139], v140 = z[140];
    long v141 = z[141], v142 = z[142], v143 = z[143], v144 = z[144], v145 = z[145], v146 = z[146];
    long v147 = z[147], v148 = z[148], v149 = z[149], v150 = z[150], v151 = z[151], v152 = z[152];
    long v153 = z[153], v154 = z[154], v155 = z[155], v156 = z[156], v157 = z[157], v158 = z[158];
    long v159 = z[159], v160 = z[160], v161 = z[161], v162 = z[162], v163 = z[163], v164 = z[164];
    long v165 = z[165], v166 = z[166], v167 = z[167], v168 = z[168], v169 = z[169], v170 = z[170];
    long v171 = z[171], v172 = z[172], v173 = z[173], v174 = z[174], v175 = z[175], v176 = z[176];
    long v177 = z[177], v178 = z[178], v179 = z[179], v180 = z[180], v181 = z[181], v182 = z[182];
    long v183 = z[183], v184 = z[184], v185 = z[185], v186 = z[186], v187 = z[187], v188 = z[188];
    long v189 = z[189], v190 = z[190], v191 = z[191], v192 = z[192], v193 = z[193], v194 = z[194];
    long v195 = z[195], v196 = z[196], v197 = z[197], v198 = z[198], v199 = z[199], v200 = z[200];
    long v201 = z[201], v202 = z[202], v203 = z[203], v204 = z[204], v205 = z[205], v206 = z[206];
    long v207 = z[207], v208 = z[208], v209 = z[209], v210 = z[210], v211 = z[211], v212 = z[212];
    long v213 = z[213], v214 = z[214], v215 = z[215], v216 = z[216], v217 = z[217], v218 = z[218];
    long v219 = z[219], v220 = z[220], v221 = z[221], v222 = z[222], v223 = z[223], v224 = z[224];
    long v225 = z[225], v226 = z[226], v227 = z[227], v228 = z[228], v229 = z[229], v230 = z[230];
    long v231 = z[231], v232 = z[232], v233 = z[233], v234 = z[234], v235 = z[235], v236 = z[236];
    long v237 = z[237], v238 = z[238], v239 = z[239], v240 = z[240], v241 = z[241], v242 = z[242];
    long v243 = z[243], v244 = z[244], v245 = z[245], v246 = z[246], v247 = z[247], v248 = z[248];
    long v249 = z[249], v250 = z[250], v251 = z[251], v252 = z[252], v253 = z[253], v254 = z[254];
    long v255 = z[255], v256 = z[256], v257 = z[257], v258 = z[258], v259 = z[259], v260 = z[260];
    long v261 = z[261], v262 = z[262], v263 = z[263], v264 = z[264], v265 = z[265], v266 = z[266];
    long v267 = z[267], v268 = z[268], v269 = z[269], v270 = z[270], v271 = z[271], v272 = z[272];
    long v273 = z[273], v274 = z[274], v275 = z[275], v276 = z[276], v277 = z[277], v278 = z[278];
    long v279 = z[279], v280 = z[280], v281 = z[281], v282 = z[282], v283 = z[283], v284 = z[284];
    long v285 = z[285], v286 = z[286], v287 = z[287], v288 = z[288], v289 = z[289], v290 = z[290];
    long v291 = z[291], v292 = z[292], v293 = z[293], v294 = z[294], v295 = z[295], v296 = z[296];
    long v297 = z[297], v298 = z[298], v299 = z[299], v300 = z[300], v301 = z[301], v302 = z[302];
    long v303 = z[303], v304 = z[304], v305 = z[305], v306 = z[306], v307 = z[307], v308 = z[308];
    long v309 = z[309], v310 = z[310], v311 = z[311], v312 = z[312], v313 = z[313], v314 = z[314];
    long v315 = z[315], v316 = z[316], v317 = z[317], v318 = z[318], v319 = z[319], v320 = z[320];
    long v321 = z[321], v322 = z[322], v323 = z[323], v324 = z[324], v325 = z[325], v326 = z[326];
    long v327 = z[327], v328 = z[328], v329 = z[329], v330 = z[330], v331 = z[331], v332 = z[332];
    long v333 = z[333], v334 = z[334], v335 = z[335], v336 = z[336], v337 = z[337], v338 = z[338];
    long v339 = z[339], v340 = z[340], v341 = z[341], v342 = z[342], v343 = z[343], v344 = z[344];
    long v345 = z[345], v346 = z[346], v347 = z[347], v348 = z[348], v349 = z[349], v350 = z[350];
    long v351 = z[351], v352 = z[352], v353 = z[353], v354 = z[354], v355 = z[355], v356 = z[356];
    long v357 = z[357], v358 = z[358], v359 = z[359], v360 = z[360], v361 = z[361], v362 = z[362];
    long v363 = z[363], v364 = z[364], v365 = z[365], v366 = z[366], v367 = z[367], v368 = z[368];
    long v369 = z[369], v370 = z[370], v371 = z[371], v372 = z[372], v373 = z[373], v374 = z[374];
    long v375 = z[375], v376 = z[376], v377 = z[377], v378 = z[378], v379 = z[379], v380 = z[380];
    long v381 = z[381], v382 = z[382], v383 = z[383], v384 = z[384], v385 = z[385], v386 = z[386];
    long v387 = z[387], v388 = z[388], v389 = z[389], v390 = z[390], v391 = z[391], v392 = z[392];
    long v393 = z[393], v394 = z[394], v395 = z[395], v396 = z[396], v397 = z[397], v398 = z[398];
    long v399 = z[399], v400 = z[400], v401 = z[401], v402 = z[402], v403 = z[403], v404 = z[404];
    long v405 = z[405], v406 = z[406], v407 = z[407], v408 = z[408], v409 = z[409], v410 = z[410];
    long v411 = z[411], v412 = z[412], v413 = z[413], v414 = z[414], v415 = z[415], v416 = z[416];
    long v417 = z[417], v418 = z[418], v419 = z[419], v420 = z[420], v421 = z[421], v422 = z[422];
    long v423 = z[423], v424 = z[424], v425 = z[425], v426 = z[426], v427 = z[427], v428 = z[428];
    long v429 = z[429], v430 = z[430], v431 = z[431], v432 = z[432], v433 = z[433], v434 = z[434];
    long v435 = z[435], v436 = z[436], v437 = z[437], v438 = z[438], v439 = z[439], v440 = z[440];
    long v441 = z[441], v442 = z[442], v443 = z[443], v444 = z[444], v445 = z[445], v446 = z[446];
    long v447 = z[447], v448 = z[448], v449 = z[449], v450 = z[450], v451 = z[451], v452 = z[452];
    long v453 = z[453], v454 = z[454], v455 = z[455], v456 = z[456], v457 = z[457], v458 = z[458];
    long v459 = z[459], v460 = z[460], v461 = z[461], v462 = z[462], v463 = z[463], v464 = z[464];
    long v465 = z[465], v466 = z[466], v467 = z[467], v468 = z[468], v469 = z[469], v470 = z[470];
    long v471 = z[471], v472 = z[472], v473 = z[473], v474 = z[474], v475 = z[475], v476 = z[476];
    long v477 = z[477], v478 = z[478], v479 = z[479];
    long all = frames == 0 ? 0 : reserve(z, frames - 1, /* takesBranch= */ false);
    all |= v0 | v1 | v2 | v3 | v4 | v5 | v6 | v7 | v8 | v9 | v10 | v11 | v12 | v13 | v14 | v15;
    all |= v16 | v17 | v18 | v19 | v20 | v21 | v22 | v23 | v24 | v25 | v26 | v27 | v28 | v29 | v30;
    all |= v31 | v32 | v33 | v34 | v35 | v36 | v37 | v38 | v39 | v40 | v41 | v42 | v43 | v44 | v45;
    all |= v46 | v47 | v48 | v49 | v50 | v51 | v52 | v53 | v54 | v55 | v56 | v57 | v58 | v59 | v60;
    all |= v61 | v62 | v63 | v64 | v65 | v66 | v67 | v68 | v69 | v70 | v71 | v72 | v73 | v74 | v75;
    all |= v76 | v77 | v78 | v79 | v80 | v81 | v82 | v83 | v84 | v85 | v86 | v87 | v88 | v89 | v90;
    all |= v91 | v92 | v93 | v94 | v95 | v96 | v97 | v98 | v99 | v100 | v101 | v102 | v103 | v104;
    all |= v105 | v106 | v107 | v108 | v109 | v110 | v111 | v112 | v113 | v114 | v115 | v116 | v117;
    all |= v118 | v119 | v120 | v121 | v122 | v123 | v124 | v125 | v126 | v127 | v128 | v129 | v130;
    all |= v131 | v132 | v133 | v134 | v135 | v136 | v137 | v138 | v139 | v140 | v141 | v142 | v143;
    all |= v144 | v145 | v146 | v147 | v148 | v149 | v150 | v151 | v152 | v153 | v154 | v155 | v156;
    all |= v157 | v158 | v159 | v160 | v161 | v162 | v163 | v164 | v165 | v166 | v167 | v168 | v169;
    all |= v170 | v171 | v172 | v173 | v174 | v175 | v176 | v177 | v178 | v179 | v180 | v181 | v182;
    all |= v183 | v184 | v185 | v186 | v187 | v188 | v189 | v190 | v191 | v192 | v193 | v194 | v195;
    all |= v196 | v197 | v198 | v199 | v200 | v201 | v202 | v203 | v204 | v205 | v206 | v207 | v208;
    all |= v209 | v210 | v211 | v212 | v213 | v214 | v215 | v216 | v217 | v218 | v219 | v220 | v221;
    all |= v222 | v223 | v224 | v225 | v226 | v227 | v228 | v229 | v230 | v231 | v232 | v233 | v234;
    all |= v235 | v236 | v237 | v238 | v239 | v240 | v241 | v242 | v243 | v244 | v245 | v246 | v247;
    all |= v248 | v249 | v250 | v251 | v252 | v253 | v254 | v255 | v256 | v257 | v258 | v259 | v260;
    all |= v261 | v262 | v263 | v264 | v265 | v266 | v267 | v268 | v269 | v270 | v271 | v272 | v273;
    all |= v274 | v275 | v276 | v277 | v278 | v279 | v280 | v281 | v282 | v283 | v284 | v285 | v286;
    all |= v287 | v288 | v289 | v290 | v291 | v292 | v293 | v294 | v295 | v296 | v297 | v298 | v299;
    all |= v300 | v301 | v302 | v303 | v304 | v305 | v306 | v307 | v308 | v309 | v310 | v311 | v312;
    all |= v313 | v314 | v315 | v316 | v317 | v318 | v319 | v320 | v321 | v322 | v323 | v324 | v325;
    all |= v326 | v327 | v328 | v329 | v330 | v331 | v332 | v333 | v334 | v335 | v336 | v337 | v338;
    all |= v339 | v340 | v341 | v342 | v343 | v344 | v345 | v346 | v347 | v348 | v349 | v350 | v351;
    all |= v352 | v353 | v354 | v355 | v356 | v357 | v358 | v359 | v360 | v361 | v362 | v363 | v364;
    all |= v365 | v366 | v367 | v368 | v369 | v370 | v371 | v372 | v373 | v374 | v375 | v376 | v377;
    all |= v378 | v379 | v380 | v381 | v382 | v383 | v384 | v385 | v386 | v387 | v388 | v389 | v390;
    all |= v391 | v392 | v393 | v394 | v395 | v396 | v397 | v398 | v399 | v400 | v401 | v402 | v403;
    all |= v404 | v405 | v406 | v407 | v408 | v409 | v410 | v411 | v412 | v413 | v414 | v415 | v416;
    all |= v417 | v418 | v419 | v420 | v421 | v422 | v423 | v424 | v425 | v426 | v427 | v428 | v429;
    all |= v430 | v431 | v432 | v433 | v434 | v435 | v436 | v437 | v438 | v439 | v440 | v441 | v442;
    all |= v443 | v444 | v445 | v446 | v447 | v448 | v449 | v450 | v451 | v452 | v453 | v454 | v455;
    all |= v456 | v457 | v458 | v459 | v460 | v461 | v462 | v463 | v464 | v465 | v466 | v467 | v468;
    all |= v469 | v470 | v471 | v472 | v473 | v474 | v475 | v476 | v477 | v478 | v479;
    return all;
  }
}
