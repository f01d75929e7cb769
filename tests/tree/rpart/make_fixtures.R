# Reference trees for tests/tree, grown by R's rpart package.
#
#     Rscript make_fixtures.R [output folder, by default the current one]
#
# Writes one <case>.json per case; SEMANTICS.md says what the numbers mean.
# rpart is used as an oracle only: it is run, none of its code is here.
# Every number is written with the fewest digits that read back to the same
# double. NA, NaN and infinities are written as null.

suppressPackageStartupMessages(library(rpart))
suppressWarnings(RNGversion("3.6.0"))

args <- commandArgs(trailingOnly = TRUE)
OUT <- if (length(args)) args[1] else "."


# ---------------------------------------------------------------- JSON -------

number <- function(v) {
    if (!is.finite(v)) return("null")
    for (digits in c(15, 16, 17)) {
        text <- sprintf(paste0("%.", digits, "g"), v)
        if (as.numeric(text) == v) break
    }
    text
}

json <- function(v) {
    if (is.null(v)) return("null")
    if (is.matrix(v))                                   # list of rows
        return(json(lapply(seq_len(nrow(v)), function(i) I(unname(v[i, ])))))
    if (is.list(v)) {
        parts <- vapply(v, json, "")
        if (is.null(names(v))) return(paste0("[", paste(parts, collapse = ","), "]"))
        return(paste0("{", paste0('"', names(v), '":', parts, collapse = ","), "}"))
    }
    scalar <- length(v) == 1 && !inherits(v, "AsIs")
    v <- unclass(v)
    text <- if (is.character(v)) ifelse(is.na(v), "null", paste0('"', v, '"'))
            else if (is.logical(v)) ifelse(is.na(v), "null", ifelse(v, "true", "false"))
            else vapply(as.numeric(v), number, "")
    if (scalar) text else paste0("[", paste(text, collapse = ","), "]")
}

# a named list of columns out of a matrix (columns always as JSON arrays)
columns <- function(m, names = gsub(" ", "_", colnames(m)))
    setNames(lapply(seq_len(ncol(m)), function(j) I(unname(m[, j]))), names)


# ---------------------------------------------------------------- a case -----

# n fold numbers 1..k, balanced, in a seeded order
fold_numbers <- function(n, k, seed = 1) {
    set.seed(seed)
    sample(rep(seq_len(k), length.out = n))
}

# integer weights 1..3 (seeded)
some_weights <- function(n, seed = 2, largest = 3) {
    set.seed(seed)
    sample(largest, n, replace = TRUE)
}

# the data frame with each value of the features missing with probability p;
# no row is left with all of its features missing
with_holes <- function(x, p, seed = 3) {
    set.seed(seed)
    holes <- matrix(runif(nrow(x) * ncol(x)) < p, nrow(x))
    holes[rowSums(!holes) == 0, 1] <- FALSE
    for (j in seq_along(x)) x[[j]][holes[, j]] <- NA
    x
}

# xerror and xstd as they should be: from the predictions of xpred.rpart, with
# the loss of (true class, predicted class). They are those of the cp table but
# where rpart scores asymmetric losses the wrong way round, or rows that no
# split could send on (usesurrogate < 2) with another row's error.
rescored <- function(fit, folds, y, w, method) {
    cp <- unname(fit$cptable[, "CP"])
    cp <- c(10, sqrt(cp[-1] * cp[-length(cp)]))      # 10: the root alone
    predicted <- matrix(xpred.rpart(fit, xval = folds, cp = cp), length(y))
    if (method == "class") {
        y <- as.integer(y)
        scale <- as.numeric(fit$parms$prior) * sum(w) / tapply(w, y, sum)
    }
    error <- function(p) switch(method,
        class = fit$parms$loss[cbind(y, p)] * scale[y],
        anova = (y - p)^2,
        poisson = 2 * (p - y + ifelse(y > 0, y * log(y / p), 0)))
    error <- matrix(apply(predicted, 2, error), length(y))
    total <- colSums(w * error)
    list(xerror = I(total / fit$frame$dev[1]),
         xstd = I(sqrt(pmax(0, colSums(w * error^2) - total^2 / sum(w))) / fit$frame$dev[1]))
}

CASES <- character()

# y: a factor (method "class") or numbers; x: data frame of numbers and factors;
# ...: arguments of rpart.control (cp is 0 unless given)
case <- function(name, method, x, y, ..., k = 5, seed = 1, weights = NULL,
                 parms = NULL) {
    x <- as.data.frame(x)
    for (j in seq_along(x)) {
        if (is.ordered(x[[j]])) x[[j]] <- as.numeric(x[[j]])      # codes
        else if (is.factor(x[[j]])) x[[j]] <- droplevels(x[[j]])
        else x[[j]] <- as.numeric(x[[j]])
    }
    keep <- !is.na(y) & rowSums(!is.na(x)) > 0      # rpart drops the others
    x <- x[keep, , drop = FALSE]
    y <- if (is.factor(y)) droplevels(factor(y[keep], ordered = FALSE)) else y[keep]
    weights <- weights[keep]
    n <- nrow(x)
    folds <- fold_numbers(n, k, seed)

    options <- list(...)
    if (is.null(options$cp)) options$cp <- 0
    control <- do.call(rpart.control, c(options, list(xval = folds)))
    call <- list(formula = .y ~ ., data = cbind(x, .y = y), method = method,
                 control = control)
    if (!is.null(weights)) call$weights <- weights
    if (!is.null(parms)) call$parms <- parms
    fit <- do.call(rpart, call)
    prediction <- predict(fit, newdata = x)

    frame <- fit$frame
    control$xval <- k
    splits <- if (is.null(fit$splits)) NULL else
        c(list(variable = I(rownames(fit$splits))), columns(fit$splits))
    case <- list(
        name = name,
        method = method,
        features = unname(lapply(names(x), function(f) {
            v <- x[[f]]
            if (is.factor(v))
                list(name = f, type = "categorical", levels = I(levels(v)),
                     values = I(as.integer(v) - 1L))
            else list(name = f, type = "numeric", values = I(v))
        })),
        classes = if (is.factor(y)) I(levels(y)),
        y = I(if (is.factor(y)) as.integer(y) - 1L else y),
        weights = if (!is.null(weights)) I(weights),
        control = control,
        parms = list(                                  # as rpart filled them in
            given = if (is.null(parms)) I(character()) else I(names(parms)),
            prior = if (method == "class") I(as.numeric(fit$parms$prior)),
            loss = if (method == "class") unclass(fit$parms$loss),
            split = if (method == "class")
                c("gini", "information")[fit$parms$split],
            shrink = if (method == "poisson") fit$parms[[1]]),
        folds = I(folds),
        cptable = columns(fit$cptable),
        rescored = rescored(fit, folds, y, if (is.null(weights)) rep(1, n) else weights,
                            method),
        frame = list(
            node = I(as.integer(rownames(frame))),
            var = I(as.character(frame$var)),
            n = I(frame$n), wt = I(frame$wt), dev = I(frame$dev),
            yval = I(frame$yval - (method == "class")),     # 0-based class
            complexity = I(frame$complexity),
            ncompete = I(frame$ncompete), nsurrogate = I(frame$nsurrogate),
            class_weights = if (method == "class")
                unname(frame$yval2[, 1 + seq_along(levels(y)), drop = FALSE]),
            probabilities = if (method == "class")
                unname(frame$yval2[, 1 + nlevels(y) + seq_along(levels(y)),
                                   drop = FALSE]),
            node_probability = if (method == "class")
                I(unname(frame$yval2[, 2 + 2 * nlevels(y)])),
            events = if (method == "poisson") I(unname(frame$yval2[, 2]))),
        splits = splits,
        csplit = fit$csplit,
        variable_importance = as.list(fit$variable.importance),
        predictions = if (method == "class") unname(prediction)
                      else I(unname(prediction)),
        where = I(unname(fit$where) - 1L))             # 0-based row of frame
    writeLines(json(case), file.path(OUT, paste0(name, ".json")))
    CASES <<- c(CASES, name)
    invisible(fit)
}


# ---------------------------------------------------------------- data -------

set.seed(20240)
SIM <- data.frame(a = rnorm(140), b = rnorm(140), c = runif(140), d = rexp(140))
SIM2 <- with(SIM, factor(ifelse(a + b^2 + rnorm(140) / 2 > 0.8, "yes", "no")))
SIM3 <- with(SIM, factor(c("p", "q", "r")[1 + (a + rnorm(140) / 2 > 0) +
                                              (b + rnorm(140) / 2 > 0.5)]))
SIM_Y <- with(SIM, 2 * (a > 0) + b + sin(6 * c) + rnorm(140) / 2)
SIM_COUNT <- with(SIM, rpois(140, exp(0.5 + 0.8 * (a > 0) + 0.5 * b)))
SIM_CAT <- data.frame(
    g = factor(sample(letters[1:7], 140, TRUE)),
    h = factor(sample(c("u", "v", "w"), 140, TRUE)), z = SIM$c)
SIM_CAT_Y <- with(SIM_CAT, as.numeric(g %in% c("b", "e", "f")) * 2 +
                           (h == "v") + z + rnorm(140) / 2)
SIM_CAT_3 <- cut(SIM_CAT_Y, c(-Inf, 0.9, 2.2, Inf), labels = c("lo", "mid", "hi"))

KYP <- kyphosis[, c("Age", "Number", "Start")]
STAGE <- stagec[, c("age", "eet", "g2", "grade", "gleason", "ploidy")]
PROGRESS <- factor(stagec$pgstat, levels = 0:1, labels = c("No", "Prog"))
IRIS <- iris[, 1:4]
CAR <- car.test.frame[, c("Price", "Country", "Reliability", "Type", "Weight",
                          "Disp.", "HP")]
CU <- cu.summary[, c("Price", "Country", "Reliability", "Type")]
AIR <- airquality[, c("Solar.R", "Wind", "Temp", "Month", "Day")]
# the 15 rows of the vignette's test case (long introduction, "Test Cases")
VIGNETTE <- data.frame(
    x1 = 1:15, x2 = rep(1:6, length.out = 15),
    x3 = c(NA, 22, 38, 12, NA, 48, 14, 32, 40, NA, 30, 46, 28, 34, 48))
VIGNETTE_Y <- factor(c(1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 1))
VIGNETTE_LOSS <- matrix(c(0, 2, 2, 2, 0, 6, 1, 1, 0), 3, byrow = TRUE)
loss2 <- function(first, second)     # cost of an error on class 1, on class 2
    matrix(c(0, first, second, 0), 2, byrow = TRUE)


# ---------------------------------------------------------------- class ------

case("class_kyphosis", "class", KYP, kyphosis$Kyphosis, k = 10)
case("class_kyphosis_small", "class", KYP, kyphosis$Kyphosis, minsplit = 5, minbucket = 2)
case("class_kyphosis_full", "class", KYP, kyphosis$Kyphosis, minsplit = 2, minbucket = 1)
case("class_iris", "class", IRIS, iris$Species, k = 10)
case("class_iris_full", "class", IRIS, iris$Species, minsplit = 2, minbucket = 1)
case("class_infert", "class", infert[1:150, c("education", "age", "parity", "induced", "spontaneous")],
     factor(infert$case[1:150]), minsplit = 5, minbucket = 2)
case("class_cu_reliability", "class", cu.summary[, c("Price", "Country", "Type", "Mileage")],
     cu.summary$Reliability, minsplit = 10, minbucket = 4)
case("class_chickwts", "class", chickwts["weight"], chickwts$feed, minsplit = 5, minbucket = 2)
case("class_warpbreaks", "class", warpbreaks[, c("breaks", "wool")], warpbreaks$tension,
     minsplit = 5, minbucket = 2)
case("class_sim2", "class", SIM, SIM2, k = 10)
case("class_sim2_full", "class", SIM, SIM2, minsplit = 2, minbucket = 1)
case("class_sim3", "class", SIM, SIM3, minsplit = 5, minbucket = 2)
case("class_sim_categorical3", "class", SIM_CAT, SIM_CAT_3, minsplit = 5, minbucket = 2)
case("class_sim_categorical2", "class", SIM_CAT, factor(SIM_CAT_Y > 1.8), minsplit = 5, minbucket = 2)
case("class_stagec", "class", STAGE, PROGRESS, k = 10)
case("class_iris_weights", "class", IRIS, iris$Species, minsplit = 5, minbucket = 2,
     weights = some_weights(150))
case("class_kyphosis_weights", "class", KYP, kyphosis$Kyphosis, weights = some_weights(81))
case("class_stagec_weights", "class", STAGE, PROGRESS, weights = some_weights(146))
case("class_sim2_depth3", "class", SIM, SIM2, minsplit = 2, minbucket = 1, maxdepth = 3)

# priors and losses
case("prior_kyphosis", "class", KYP, kyphosis$Kyphosis, parms = list(prior = c(.65, .35)))
case("prior_iris", "class", IRIS, iris$Species, minsplit = 5, minbucket = 2,
     parms = list(prior = c(.2, .3, .5)))
case("prior_stagec", "class", STAGE, PROGRESS, parms = list(prior = c(.5, .5)))
case("prior_sim3_weights", "class", SIM, SIM3, minsplit = 5, minbucket = 2,
     parms = list(prior = c(.5, .3, .2)), weights = some_weights(140))
case("loss_kyphosis", "class", KYP, kyphosis$Kyphosis, parms = list(loss = loss2(1, 4)))
case("loss_sim3", "class", SIM, SIM3, minsplit = 5, minbucket = 2,
     parms = list(loss = matrix(c(0, 1, 4, 2, 0, 1, 3, 1, 0), 3, byrow = TRUE)))
case("loss_stagec", "class", STAGE, PROGRESS, parms = list(loss = loss2(1, 2)))
case("loss_sim2_weights", "class", SIM, SIM2, parms = list(loss = loss2(3, 1)),
     weights = some_weights(140))
case("prior_loss_kyphosis", "class", KYP, kyphosis$Kyphosis,
     parms = list(prior = c(.6, .4), loss = loss2(1, 2)))
case("prior_loss_sim3", "class", SIM, SIM3, minsplit = 5, minbucket = 2,
     parms = list(prior = c(.5, .3, .2),
                  loss = matrix(c(0, 1, 4, 2, 0, 1, 3, 1, 0), 3, byrow = TRUE)))
# the same with larger leaves: no ties
case("prior_sim3_large", "class", SIM, SIM3, parms = list(prior = c(.5, .3, .2)))
case("loss_sim3_large", "class", SIM, SIM3,
     parms = list(loss = matrix(c(0, 1, 4, 2, 0, 1, 3, 1, 0), 3, byrow = TRUE)))
case("prior_loss_sim3_large", "class", SIM, SIM3, weights = some_weights(140),
     parms = list(prior = c(.5, .3, .2),
                  loss = matrix(c(0, 1, 4, 2, 0, 1, 3, 1, 0), 3, byrow = TRUE)))
case("prior_loss_vignette", "class", VIGNETTE, VIGNETTE_Y, minsplit = 3, minbucket = 2,
     parms = list(prior = c(.2, .3, .5), loss = VIGNETTE_LOSS))
case("information_kyphosis", "class", KYP, kyphosis$Kyphosis,
     parms = list(split = "information"))
case("information_sim3", "class", SIM, SIM3, parms = list(split = "information"))
case("information_prior_kyphosis", "class", KYP, kyphosis$Kyphosis,
     parms = list(prior = c(.65, .35), split = "information"))


# ---------------------------------------------------------------- anova ------

case("anova_car", "anova", CAR, car.test.frame$Mileage, k = 10)
case("anova_mtcars", "anova", mtcars[, -1], mtcars$mpg, minsplit = 5, minbucket = 2)
case("anova_mtcars_large", "anova", mtcars[, -1], mtcars$mpg, minsplit = 12, minbucket = 6)
case("anova_airquality", "anova", AIR, airquality$Ozone)
case("anova_airquality_weights", "anova", AIR, airquality$Ozone, weights = some_weights(153))
case("anova_swiss", "anova", swiss[, -1], swiss$Fertility, minsplit = 5, minbucket = 2)
case("anova_attitude_full", "anova", attitude[, -1], attitude$rating, minsplit = 2, minbucket = 1)
case("anova_warpbreaks", "anova", warpbreaks[, c("wool", "tension")], warpbreaks$breaks,
     minsplit = 5, minbucket = 2)
case("anova_chickwts", "anova", chickwts["feed"], chickwts$weight, k = 10)
case("anova_CO2", "anova", data.frame(
     Plant = factor(as.character(CO2$Plant)), Type = CO2$Type,
     Treatment = CO2$Treatment, conc = CO2$conc), CO2$uptake)
case("anova_quakes", "anova", quakes[1:120, c("lat", "long", "depth", "stations")],
     quakes$mag[1:120])
case("anova_savings", "anova", LifeCycleSavings[, -1], LifeCycleSavings$sr)
case("anova_sim", "anova", SIM, SIM_Y, k = 10)
case("anova_sim_small", "anova", SIM, SIM_Y, minsplit = 5, minbucket = 2)
case("anova_sim_weights", "anova", SIM, SIM_Y, weights = some_weights(140))
case("anova_sim_categorical", "anova", SIM_CAT, SIM_CAT_Y, minsplit = 5, minbucket = 2)
case("anova_car_cp01", "anova", CAR, car.test.frame$Mileage, cp = 0.01)
case("anova_sim_cp05", "anova", SIM, SIM_Y, cp = 0.05, minsplit = 2, minbucket = 1)


# ---------------------------------------------------------------- poisson ----

case("poisson_warpbreaks", "poisson", warpbreaks[, c("wool", "tension")], warpbreaks$breaks)
case("poisson_sim", "poisson", SIM, SIM_COUNT)
case("poisson_sim_plain", "poisson", SIM, SIM_COUNT + 1, parms = list(shrink = 0))
case("poisson_sim_weights", "poisson", SIM, SIM_COUNT, weights = some_weights(140))
case("poisson_solder", "poisson",
     solder.balance[seq(1, 720, 6), c("Opening", "Solder", "Mask", "PadType", "Panel")],
     solder.balance$skips[seq(1, 720, 6)], parms = list(shrink = 10))


# ------------------------------------------- surrogates and competitors ------

case("surrogate_stagec", "class", STAGE, PROGRESS, cp = 0.01)
case("surrogate_stagec_use0", "class", STAGE, PROGRESS, usesurrogate = 0)
case("surrogate_stagec_use1", "class", STAGE, PROGRESS, usesurrogate = 1)
case("surrogate_stagec_style1", "class", STAGE, PROGRESS, surrogatestyle = 1)
case("surrogate_cu", "anova", CU, cu.summary$Mileage)
case("surrogate_cu_style1", "anova", CU, cu.summary$Mileage, surrogatestyle = 1)
case("surrogate_kyphosis_holes", "class", with_holes(KYP, 0.2), kyphosis$Kyphosis,
     minsplit = 10, minbucket = 4)
case("surrogate_kyphosis_holes_use1", "class", with_holes(KYP, 0.2), kyphosis$Kyphosis,
     minsplit = 10, minbucket = 4, usesurrogate = 1)
case("surrogate_kyphosis_holes_use0", "class", with_holes(KYP, 0.2), kyphosis$Kyphosis,
     minsplit = 10, minbucket = 4, usesurrogate = 0)
case("surrogate_car_holes", "anova", with_holes(CAR, 0.15), car.test.frame$Mileage)
case("surrogate_car_holes_style1", "anova", with_holes(CAR, 0.15), car.test.frame$Mileage,
     surrogatestyle = 1)
case("surrogate_car_holes_use1", "anova", with_holes(CAR, 0.15), car.test.frame$Mileage,
     usesurrogate = 1)
case("surrogate_iris_holes", "class", with_holes(IRIS, 0.2), iris$Species)
case("surrogate_iris_holes_weights", "class", with_holes(IRIS, 0.2), iris$Species,
     weights = some_weights(150), surrogatestyle = 1)
case("surrogate_iris_holes_prior", "class", with_holes(IRIS, 0.2), iris$Species,
     parms = list(prior = c(.2, .3, .5)))
case("surrogate_mtcars_holes_weights", "anova", with_holes(mtcars[, -1], 0.15), mtcars$mpg,
     minsplit = 5, minbucket = 2, weights = some_weights(32))
case("surrogate_sim_holes", "anova", with_holes(SIM, 0.2), SIM_Y)
case("surrogate_sim_holes_use0", "anova", with_holes(SIM, 0.2), SIM_Y, usesurrogate = 0)
case("surrogate_sim_categorical_holes", "anova", with_holes(SIM_CAT, 0.2), SIM_CAT_Y)
case("surrogate_sim_categorical3_holes", "class", with_holes(SIM_CAT, 0.2), SIM_CAT_3)
case("surrogate_poisson_sim_holes", "poisson", with_holes(SIM, 0.2), SIM_COUNT)
case("surrogate_max2", "anova", with_holes(mtcars[, -1], 0.1), mtcars$mpg,
     minsplit = 5, minbucket = 2, maxsurrogate = 2, maxcompete = 1)
case("surrogate_none", "anova", with_holes(CAR, 0.15), car.test.frame$Mileage,
     maxsurrogate = 0, maxcompete = 0, usesurrogate = 0)   # (2: undefined)

cat(length(CASES), "cases,", sum(file.size(file.path(OUT, paste0(CASES, ".json")))) / 1e6, "MB\n")
